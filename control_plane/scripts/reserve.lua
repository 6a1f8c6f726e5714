-- Take the most that a request to a model can use from the budgets, before it is sent, under the lease
-- of the work that sends it.
-- ARGV[1]  {run, path, token, fence, call, tokens, nano?, budget: {try?, run?}, events_limit}
--          call: an id, the name of the reservation;  nano: billionths of a US dollar, missing where
--          nobody knows the price;  each budget: {model_calls?, tokens?, nano?, wall_ms?}
-- ARGV[2]  history event of the refusal when a budget has not enough left; rule, budget, used and
--          limit are added to it
-- Reply    {"ok"}
--          {"over_budget", "try" | "run", "model_calls" | "tokens" | "cost_usd" | "wall_time_s", used,
--          limit}: the refusal is on record then; money in US dollars, times in seconds
--          {"price_unknown", "try" | "run"}: its budget limits money
--          | {"limit_exceeded", "events"}
--          | {"lease_lost"} | {"lease_expired"} | {"timed_out"}
--          | {"cancelled"} | {"closed"} | {"unknown_state"} | {"unknown_run"}
-- What the run used stands in cp:wf:{id}:chain: model_calls, model_tokens, model_nano, and model_held:
-- {call} for each request that is not billed yet; what the try used in ctl.model, {calls, tokens,
-- nano}. A reservation that is never billed stays taken: whoever died over it may have used it all.
-- The same call again gets the first answer.

local path = REQ.path
local ctl = load(path)
if not ctl then return reply('unknown_state') end
local why = dead(path, ctl) or not_holder(ctl)
if why then return reply(why) end
local held = 'model_held:' .. REQ.call
if redis.call('HEXISTS', CHAIN, held) == 1 then return reply('ok') end
if load_chain().events >= REQ.events_limit then return reply('limit_exceeded', 'events') end

local mine = ctl.model or { calls = 0, tokens = 0, nano = 0 }
local all = model_use()
local nano = REQ.nano or 0

local function dollars(amount) return string.format('%.9f', amount / 1e9) end

-- What of a budget this request would break, how much is used, and the limit; nothing if it fits.
local function broken(limits, use, worked)
  if limits.model_calls and use.calls + 1 > limits.model_calls then
    return 'model_calls', integer(use.calls), integer(limits.model_calls)
  end
  if limits.tokens and use.tokens + REQ.tokens > limits.tokens then
    return 'tokens', integer(use.tokens), integer(limits.tokens)
  end
  if limits.nano and use.nano + nano > limits.nano then
    return 'cost_usd', dollars(use.nano), dollars(limits.nano)
  end
  if limits.wall_ms and worked() >= limits.wall_ms then
    return 'wall_time_s', seconds(worked()), seconds(limits.wall_ms)
  end
end

local of_try, of_run = REQ.budget['try'] or {}, REQ.budget.run or {}
if not REQ.nano then
  if of_try.nano then return reply('price_unknown', 'try') end
  if of_run.nano then return reply('price_unknown', 'run') end
end
local whose = 'try'
local what, used, limit = broken(of_try, mine, function() return worked_in_try(ctl) end)
if not what then
  whose = 'run'
  what, used, limit = broken(of_run, all, passed_in_run)
end
if what then
  record(string.sub(ARGV[2], 1, -2) .. ',"rule":"budget.' .. what .. '","budget":"' .. whose
    .. '","used":' .. used .. ',"limit":' .. limit .. '}')
  return reply('over_budget', whose, what, used, limit)
end
ctl.model = { calls = mine.calls + 1, tokens = mine.tokens + REQ.tokens, nano = mine.nano + nano }
redis.call('JSON.SET', state_key(path), '$.ctl', cjson.encode(ctl))
keep_model_use(all, 1, REQ.tokens, nano)
redis.call('HSET', CHAIN, held, cjson.encode({ tokens = REQ.tokens, nano = nano }))
return reply('ok')
