-- A request to a model is over: put what it used in the place of what was reserved for it.
-- ARGV[1]  {run, path, token, fence, call, tokens, nano?, events_limit}
--          call: the name of a reservation of this lease;  nano: billionths of a US dollar, missing
--          where nobody knows the price
-- ARGV[2]  history event of the request
-- Reply    {"ok"} | {"limit_exceeded", "events"}: billed, and not in the history
--          | {"lease_lost"} | {"lease_expired"} | {"timed_out"}
--          | {"cancelled"} | {"closed"} | {"unknown_state"} | {"unknown_run"}
-- Who has lost the lease by now bills nothing, and the reservation stays. Repeating the call changes
-- nothing.

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
local why = dead(path, ctl) or not_holder(ctl)
if why then return reply(why) end
local held = 'model_held:' .. REQ.call
local text = redis.call('HGET', CHAIN, held)
if not text then return reply('ok') end
local reserved = cjson.decode(text)
local tokens, nano = REQ.tokens - reserved.tokens, (REQ.nano or 0) - reserved.nano
local mine = ctl.model
mine.tokens, mine.nano = mine.tokens + tokens, mine.nano + nano
redis.call('JSON.SET', state_key(path), '$.ctl', cjson.encode(ctl))
keep_model_use(model_use(), 0, tokens, nano)
redis.call('HDEL', CHAIN, held)
if not REQ.nano then redis.call('HINCRBY', CHAIN, 'model_unpriced', 1) end
if load_chain().events >= REQ.events_limit then return reply('limit_exceeded', 'events') end
record(ARGV[2])
return reply('ok')
