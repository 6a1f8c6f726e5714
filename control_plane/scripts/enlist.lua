-- Let the lists of runs say what the documents of these runs say: after another version of the software
-- moved them, after a loss, and in a cluster after each change.
-- KEYS[1]  cp:{runs}:running, for its slot   (the derived names of the prelude are not used)
-- ARGV[1]  {runs: [[id] | [id, status or "", made at (ms)]]}   at most 500; the id alone, standalone
--          only: the document is read here; "": there is no such run
-- Reply    {"ok"}

for _, entry in ipairs(REQ.runs) do
  local id, status, born = entry[1], entry[2], entry[3]
  if not status then
    local text = redis.call('JSON.GET', 'cp:wf:' .. id .. ':meta', '.ctl')
    local run = text and cjson.decode(text) or {}
    status, born = run.status, run.born
  end
  place(id, status ~= '' and status or nil, born)
end
return { 'ok' }
