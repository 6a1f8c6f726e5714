-- Shared by every script. All keys of one run hash to one slot, so a script is given the run's meta
-- key and derives the others from it; only the index, the lists and the queue live elsewhere.
--
-- KEYS[1]  cp:wf:{id}:meta            JSON    the run
-- KEYS[2]  cp:wf:index                zset    standalone only: run -> next look-at time (ms)
-- KEYS[3]  cp:queue:{pool}            stream  standalone only: the caller's queue of hints
--          {workflow, path}; new hints go to the queue of the run's pool
-- derived  cp:wf:{id}:state:{path}    JSON    one state, frame ticket or (path@visit) earlier visit
--          cp:wf:{id}:history         stream  at, event, digest: each digest covers the one before
--          cp:wf:{id}:chain           hash    digest, events, steps, and what calls used
--          cp:wf:{id}:due             zset    path -> next moment (ms) that time can move it
--          cp:wf:{id}:paths           set     every path that has a document
--          dp:wf:{id}:output:{path}   JSON    what a state put out
--          dp:wf:{id}:calls:{path}    hash    fence, number -> what a tool answered under that lease
--          cp:{runs}:{status}         zset    standalone only: run -> when it was made (ms), in the list
--          of its status and in no other
-- ARGV[1]  request: a JSON object of scalars; `run` is the workflow id
-- ARGV[2…] JSON texts made by the client, written verbatim
-- Reply: {code, …, {look, paths, pool, relist}}: for clients of a cluster, where a script can reach
-- neither index nor lists nor queue: when to look at the run at the latest (ms, or ""), the paths that
-- became ready and their pool, and whether the lists have to follow the run (1 | 0).
--
-- Redis does not roll back a script that fails: read and decide first, then write the client's
-- JSON (the only writes that can fail), then write values made here.

local META, INDEX, QUEUE = KEYS[1], KEYS[2], KEYS[3]
local RUN = string.sub(META, 1, -5)
local DATA = 'dp' .. string.sub(RUN, 3)
local HISTORY, CHAIN, DUE, PATHS = RUN .. 'history', RUN .. 'chain', RUN .. 'due', RUN .. 'paths'
local STAGE = RUN .. 'stage'
local REQ = cjson.decode(ARGV[1])
local TIME = redis.call('TIME')
local NOW = tonumber(TIME[1]) * 1000 + math.floor(tonumber(TIME[2]) / 1000)

local REHINT_MIN, REHINT_MAX = 15000, 60000
local QUEUE_LIMIT = 100000
-- How many workers may die over a state, where its run says nothing of that.
local DEATHS_LIMIT = 3
-- The first version of the rules in which a state can wait for approval.
local APPROVAL_PROTOCOL = 3
-- Events that somebody outside was told to have counted: nothing takes their place.
local ANSWER = { callback = true, approval = true }
local OPEN = { pending = true, ready = true, running = true, waiting = true }

local LISTS = 'cp:{runs}:'

local hints, look, chain, relist = {}, nil, nil, 0
-- The turn in which the run was moved last (nil: never), known after `dead`.
local turn
-- Set by a script whose documents wait for a later call: nobody shall look at them before.
local quiet = false

local function integer(number) return string.format('%.0f', number) end
local function quote(text) return cjson.encode(text) end
local function state_key(path) return RUN .. 'state:' .. path end
local function output_key(path) return DATA .. 'output:' .. path end
local function calls_key(path) return DATA .. 'calls:' .. path end

-- The control record of a document: what decides; the public fields are its copy.
local function load(path)
  local text = redis.call('JSON.GET', state_key(path), '.ctl')
  return text and cjson.decode(text)
end

-- The control record of the run, or nil: {status, protocol, digest, finalized?, said: {script: id of
-- the call that moved the run}, preparing?: id of a redrive that has begun, prepared?: how many of
-- its calls were made, closed?: how many of the paths are, removing?}.
local function load_run()
  local text = redis.call('JSON.GET', META, '.ctl')
  return text and cjson.decode(text)
end

-- "Fan[2]/Fetch" -> "Fan[2]", "Fan"; nothing for a state of the root frame.
local function enclosing(path)
  local frame = string.match(path, '^(.*)/[^/]*$')
  if frame then return frame, (string.gsub(frame, '%[%d+%]$', '')) end
end

-- The state whose join a ticket ("Fan[2]") or a state inside one ("Fan[2]/Fetch") reports to.
local function parent_of(path, kind)
  if kind == 'frame' then return (string.gsub(path, '%[%d+%]$', '')) end
  local _, parent = enclosing(path)
  return parent
end

-- Why nothing under `path` may be written any more; nil while it is alive: the run is running and
-- every join above is open and of the round this document belongs to.
local function dead(path, ctl)
  local run = load_run()
  if not run then return 'unknown_run' end
  turn = run.turn
  if run.status == 'cancelled' then return 'cancelled' end
  if run.status ~= 'running' then return 'closed' end
  if REQ.protocols and run.protocol > REQ.protocols then return 'unknown_protocol' end
  local pv, above = ctl.pv, parent_of(path, ctl.kind)
  while above do
    local outer = load(above)
    if not outer or not outer.join or not outer.join.open or outer.join.visit ~= pv then
      return 'closed'
    end
    pv, above = outer.pv, parent_of(above, 'state')
  end
end

local function hint(path)
  hints[#hints + 1] = path
  if INDEX then
    -- The run's own pool: who sweeps it may work in another one.
    local queue = 'cp:queue:' .. load_run().pool
    redis.call('XADD', queue, 'MAXLEN', '~', QUEUE_LIMIT, '*', 'workflow', REQ.run, 'path', path)
  end
end

-- Put a run into the list of `status`, or with nil into none.
local function place(id, status, born)
  -- What stands there already stands in no other: this is the only place that writes them.
  if status and redis.call('ZADD', LISTS .. status, born, id) == 0 then return end
  for _, other in ipairs({ 'pending', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled' }) do
    if other ~= status then redis.call('ZREM', LISTS .. other, id) end
  end
end

-- Let the lists say of this run what its document says; `run` is its control record, or nil.
local function enlist(run)
  if INDEX then
    place(REQ.run, run and run.status, run and run.born)
  else
    relist = 1
  end
end

local function due_at(ctl)
  local at
  local function sooner(moment) if moment and (not at or moment < at) then at = moment end end
  if ctl.status == 'ready' then
    at = ctl.hint_at
  elseif ctl.status == 'running' then
    at = ctl.lease.ends
    if not ctl.event then sooner(ctl.deadline) sooner(ctl.hb_due) end
  elseif ctl.status == 'waiting' then
    at = ctl.wait_until
    sooner(ctl.deadline)
    if ctl.wait == 'callback' then sooner(ctl.hb_due) end
  end
  return at
end

local function look_at(moment)
  if INDEX then
    redis.call('ZADD', INDEX, 'LT', moment, REQ.run)
  elseif not look or moment < look then
    look = moment
  end
end

local function schedule(path, ctl)
  local at = due_at(ctl)
  if at then
    redis.call('ZADD', DUE, at, path)
    -- In a cluster the look-at time never lies far ahead while a state is ready or running.
    if not quiet and (INDEX or ctl.status == 'waiting') then look_at(at) end
  else
    redis.call('ZREM', DUE, path)
  end
end

local function lease_text(ctl)
  local lease = ctl.lease
  if not lease then return '{"token":null,"owner_agent_id":null,"ts":null,"ttl_s":null}' end
  return '{"token":"' .. lease.token .. '","owner_agent_id":' .. quote(lease.owner) .. ',"ts":'
    .. integer(lease.ts) .. ',"ttl_s":' .. integer(math.ceil(lease.ttl / 1000)) .. '}'
end

-- The next try, or the next visit, has its limits of time to itself.
local function forget_limits(ctl) ctl.begun, ctl.deadline, ctl.hb_due = nil, nil, nil end

-- … and so has it what it may use, and what it asks to be allowed.
local function forget_try(ctl)
  forget_limits(ctl)
  ctl.calls, ctl.worked, ctl.noted, ctl.ask, ctl.asked_at, ctl.answered = nil, nil, nil, nil, nil, nil
  ctl.made, ctl.model = nil, nil
end

-- The first of the blobs that the call refers to which is not there, or nil: a server that forgot its
-- newest writes may have taken them before.
local function missing_blob()
  for _, sha256 in ipairs(REQ.blobs or {}) do
    if redis.call('EXISTS', DATA .. 'blob:' .. sha256) == 0 then return sha256 end
  end
end

local function deaths_limit() return load_run().deaths or DEATHS_LIMIT end

-- A worker died, or vanished, that held this state, and maybe others beside it. Nobody can tell which
-- of them it died of, so the first death makes each of them a suspect, which from then on is leased
-- to be worked on alone: only a death there is its own. See docs/decisions/0036.
local function count_death(ctl)
  ctl.deaths, ctl.overdue = (ctl.deaths or 0) + 1, nil
  local limit = deaths_limit()
  if ctl.deaths >= limit and not ANSWER[ctl.event] then
    ctl.event = 'worker_lost'
  end
  -- Even telling it that its workers died kills its workers.
  return ctl.deaths > 2 * limit
end

-- What is worked on again is a suspect still, of which nothing is known but that; a death before that
-- is not told any more.
local function forgive(ctl)
  ctl.takeovers, ctl.deaths = 0, ctl.deaths and math.min(ctl.deaths, 1)
  ctl.returned, ctl.unheard, ctl.overdue = nil, nil, nil
end

-- Write the control record and its public copy; further (path, JSON text) pairs may follow.
local function save(path, ctl, ...)
  local key = state_key(path)
  local pairs_ = { key, '$.ctl', cjson.encode(ctl), key, '$.status', '"' .. ctl.status .. '"',
    key, '$.attempts', ctl.attempts, key, '$.lease', lease_text(ctl) }
  local more = { ... }
  for i = 1, #more, 2 do
    local n = #pairs_
    pairs_[n + 1], pairs_[n + 2], pairs_[n + 3] = key, more[i], more[i + 1]
  end
  redis.call('JSON.MSET', unpack(pairs_))
  schedule(path, ctl)
end

-- The whole text of a new document; `variables` is a JSON text, or "" (nil) for none.
local function document(path, ctl, kind_of_state, input, variables)
  local entered = ctl.status == 'pending' and 'null' or integer(NOW)
  local started = ctl.lease and integer(NOW) or 'null'
  return '{"path":' .. quote(path) .. ',"type":' .. quote(kind_of_state) .. ',"status":"' .. ctl.status
    .. '","attempts":' .. ctl.attempts .. ',"visit":' .. ctl.visit .. ',"lease":' .. lease_text(ctl)
    .. ',"input":' .. input
    .. (variables and variables ~= '' and ',"variables":' .. variables or '') .. ',"event":null,"error":null,"model_selection":null'
    .. ',"execution_metrics":null,"times":{"entered":' .. entered .. ',"started":' .. started
    .. ',"finished":null},"ctl":' .. cjson.encode(ctl) .. '}'
end

-- Move the document of a visit that is over (or dead) aside, so that a new visit can take its place.
local function set_aside(path, ctl)
  if OPEN[ctl.status] then
    ctl.status, ctl.lease = 'cancelled', nil
    save(path, ctl, '$.times.finished', integer(NOW))
  end
  local earlier = path .. '@' .. integer(ctl.visit)
  redis.call('RENAME', state_key(path), state_key(earlier))
  if redis.call('EXISTS', output_key(path)) == 1 then
    redis.call('RENAME', output_key(path), output_key(earlier))
  end
  redis.call('SADD', PATHS, earlier)
end

-- Back to ready: nobody holds it, a worker shall look.
local function wake(ctl)
  ctl.status, ctl.lease, ctl.wait, ctl.wait_until = 'ready', nil, nil, nil
  ctl.ready_at, ctl.hint_at = NOW, NOW + REHINT_MIN
end

-- The control record of a fresh visit; `before` is the record of the visit it follows, if any.
local function fresh(kind, pv, spec, before)
  local ctl = { kind = kind, pv = pv, visit = 1, try = 1, attempts = 0, takeovers = 0, fence = 0,
    rounds = 0, timeout_ms = spec.timeout_ms, hb_ms = spec.hb_ms, callback = spec.callback }
  if before then
    ctl.visit, ctl.fence, ctl.rounds = before.visit + 1, before.fence, before.rounds
    -- Who was a suspect and did its work without another death was innocent. A state that enters
    -- itself is still running.
    local worked = before.status == 'done' or before.status == 'running'
    local deaths = before.deaths and math.min(before.deaths, 1)
    if not (worked and deaths == before.deaths) then ctl.deaths = deaths end
  end
  wake(ctl)
  return ctl
end

-- Lease `ctl` to the caller. The fence only grows and starts at the clock, so that it grows even
-- across a document that was lost. Deadlines run from a try's first lease, `begun`.
local function grant(ctl, token)
  ctl.fence = math.max(ctl.fence + 1, NOW)
  ctl.turn = turn
  ctl.status, ctl.ready_at, ctl.hint_at = 'running', nil, nil
  ctl.attempts = ctl.attempts + 1
  ctl.lease = { token = redis.sha1hex(token), owner = REQ.owner, ts = NOW, ttl = REQ.ttl,
    ends = NOW + REQ.ttl, alone = REQ.alone }
  ctl.begun = ctl.begun or NOW
  if ctl.timeout_ms and not ctl.deadline then ctl.deadline = ctl.begun + ctl.timeout_ms end
  if ctl.hb_ms then ctl.hb_due = NOW + ctl.hb_ms end
end

-- Whether the caller still holds the lease it writes under; otherwise why not.
local function not_holder(ctl)
  local lease = ctl.lease
  if not lease or lease.token ~= redis.sha1hex(REQ.token) or ctl.fence ~= REQ.fence then
    return 'lease_lost'
  end
  if lease.ends <= NOW then return 'lease_expired' end
  if not ctl.event then
    if ctl.deadline and ctl.deadline <= NOW then return 'timed_out' end
    if ctl.hb_due and ctl.hb_due <= NOW then return 'timed_out' end
  end
end

-- The control record of an earlier visit, which answers a call about it that is said again.
local function load_visit(path, ctl, visit)
  if ctl and ctl.visit > visit then return load(path .. '@' .. integer(visit)) end
  return ctl
end

-- Write JSON text made by the client; the error when the server refuses it.
local function put(key, at, text)
  return redis.pcall('JSON.SET', key, at, text).err
end

local function load_chain()
  local kept = redis.call('HMGET', CHAIN, 'digest', 'events', 'steps')
  return { digest = kept[1] or '', events = tonumber(kept[2] or 0), steps = tonumber(kept[3] or 0) }
end

-- Fails where a strange hand put something else in place of the run's books: before the first write of
-- a script that calls it first, since nothing would be rolled back.
local function check_books()
  redis.call('XLEN', HISTORY)
  redis.call('ZCARD', DUE)
  redis.call('SCARD', PATHS)
  local kept = load_chain()
  return integer(kept.events), integer(kept.steps)
end

-- Append an event to the hash chain.
local function record(text)
  chain = chain or load_chain()
  local at = integer(NOW)
  chain.digest = redis.sha1hex(chain.digest .. '\n' .. at .. '\n' .. text)
  chain.events = chain.events + 1
  redis.call('XADD', HISTORY, '*', 'at', at, 'event', text, 'digest', chain.digest)
end

local function record_event(kind, path, more)
  record('{"type":"' .. kind .. '","path":' .. quote(path) .. (more or '') .. '}')
end

-- The run is over: nothing under it is alive any more. Its open documents are closed later.
local function end_run(status, exit, failure, said)
  local run = load_run()
  run.status = status
  if said then run.said[said] = REQ.call end
  redis.call('JSON.MSET', META, '$.ctl', cjson.encode(run), META, '$.status', '"' .. status .. '"',
    META, '$.exit', quote(exit), META, '$.error', failure, META, '$.finished_at', integer(NOW))
  redis.call('ZREM', DUE, '')
  enlist(run)
  record('{"type":"RunEnded","status":"' .. status .. '","exit":' .. quote(exit) .. '}')
  look_at(NOW)
end

local function end_lost(path)
  end_run('failed', path, '{"error":"DCF.WorkerLost","cause":"every worker that took up this state '
    .. 'died or vanished"}')
end

-- Every reply leaves through here: the chain is sealed and the hints are attached.
local function reply(...)
  if chain then
    redis.call('HSET', CHAIN, 'digest', chain.digest, 'events', chain.events, 'steps', chain.steps)
  end
  local answer = { ... }
  answer[#answer + 1] = { look and integer(look) or '', hints, #hints > 0 and load_run().pool or '',
    relist }
  return answer
end

-- The reply to JSON text that the server refused.
local function refuse(message)
  if refuses(message) then return { err = message } end
  return reply('bad_document', message)
end
