-- Write the documents of a new run: its meta, its states as pending (at most 500 a call), and in the
-- last call its first state as ready. Until that call the run is "pending" and nothing can move.
-- ARGV[1]  {run, call, digest, protocol, pool, states?: [{path, type}], timeout_ms?,
--           pins?: digest of what the run is pinned to, for the history,
--           deaths?: how many workers may die over a state, blobs?: [sha256] that must be there,
--           start?: {path, type, timeout_ms?, hb_ms?, callback?}}
-- ARGV[2]  meta document     ARGV[3]  input of the first state, or ""
-- Reply    {"ok", "created" | "present"} | {"exists", digest} | {"bad_document", message}
--          | {"missing_blob", sha256}
-- The same call again gets the first answer; the same digest goes on where an interrupted submission stopped.

local run = load_run()
if run and (run.digest ~= REQ.digest or run.removing) then return reply('exists', run.digest) end
if run and run.status ~= 'pending' then
  return reply('ok', run.said.seed == REQ.call and 'created' or 'present')
end

local absent = missing_blob()
if absent then return reply('missing_blob', absent) end

local start, bad
if REQ.start then
  start = fresh('state', 0, REQ.start)
  bad = put(STAGE, '$', document(REQ.start.path, start, REQ.start.type, ARGV[3]))
end
if not bad and not run then bad = put(META, '$', ARGV[2]) end
if bad then
  redis.call('DEL', STAGE)
  return refuse(bad)
end
if not run then
  run = { status = 'pending', protocol = REQ.protocol, digest = REQ.digest, pool = REQ.pool,
    born = integer(NOW), said = {}, deaths = REQ.deaths }
  redis.call('JSON.MSET', META, '$.ctl', cjson.encode(run), META, '$.status', '"pending"',
    META, '$.created_at', integer(NOW))
  enlist(run)
  look_at(NOW + REHINT_MAX)
end

for _, state in ipairs(REQ.states or {}) do
  -- What is there already is the same: nothing moves while the run is pending.
  local ctl = fresh('state', 0, {})
  ctl.status, ctl.visit, ctl.ready_at, ctl.hint_at = 'pending', 0, nil, nil
  redis.call('JSON.SET', state_key(state.path), '$', document(state.path, ctl, state.type, 'null'))
  redis.call('SADD', PATHS, state.path)
end

if start then
  redis.call('RENAME', STAGE, state_key(REQ.start.path))
  redis.call('SADD', PATHS, REQ.start.path)
  run.status, run.said.seed = 'running', REQ.call
  redis.call('JSON.MSET', META, '$.ctl', cjson.encode(run), META, '$.status', '"running"',
    META, '$.started_at', integer(NOW))
  enlist(run)
  record('{"type":"RunStarted","digest":"' .. REQ.digest .. '"'
    .. (REQ.pins and ',"pins":"' .. REQ.pins .. '"' or '') .. '}')
  if REQ.timeout_ms then
    redis.call('ZADD', DUE, NOW + REQ.timeout_ms, '')
    look_at(NOW + REQ.timeout_ms)
  end
  schedule(REQ.start.path, start)
  hint(REQ.start.path)
end
return reply('ok', 'created')
