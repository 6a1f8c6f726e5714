-- What the try has called stands beside its control record, $.calls: {numbers: {digest: [number]},
-- used: {question: number of the call that it allowed}, lease: {seen, recalled: {digest: how often},
-- ids: {id: …}, open: {number: until (ms)}, asking?: until (ms)}}. `lease` is of the fence ctl.made.
-- Names are hashed and begin with a letter: no user's text stands in a path.
local NO_CALLS = '{"seen":{},"recalled":{},"ids":{},"open":{}}'
local function named(kind, text) return kind .. redis.sha1hex(text) end

-- What stands at a place of it, or nil.
local function of_calls(path, ctl, place)
  if not ctl.made or (ctl.made ~= ctl.fence and string.sub(place, 1, 5) == 'lease') then return end
  return cjson.decode(redis.call('JSON.GET', state_key(path), '$.calls.' .. place))[1]
end

-- Make room for what this try, and this lease, will call.
local function begin_calls(path, ctl)
  if not ctl.made then
    redis.call('JSON.SET', state_key(path), '$.calls', '{"numbers":{},"used":{},"lease":' .. NO_CALLS .. '}')
  elseif ctl.made ~= ctl.fence then
    redis.call('JSON.SET', state_key(path), '$.calls.lease', NO_CALLS)
  end
  ctl.made = ctl.fence
end

-- How much of its time a try has worked, and a run has passed (ms); as budgets count it.
local function worked_in_try(ctl) return (ctl.worked or 0) + NOW - ctl.begun end
local function passed_in_run()
  return NOW - (load_run().since or tonumber(redis.call('JSON.GET', META, '.started_at')))
end
local function seconds(ms) return string.format('%.3f', ms / 1000) end

-- What the run's requests to models have used, reservations with it: {calls, tokens, nano}; `nano`
-- are billionths of a US dollar.
local function model_use()
  local kept = redis.call('HMGET', CHAIN, 'model_calls', 'model_tokens', 'model_nano')
  return { calls = tonumber(kept[1] or 0), tokens = tonumber(kept[2] or 0), nano = tonumber(kept[3] or 0) }
end

local function keep_model_use(use, calls, tokens, nano)
  redis.call('HSET', CHAIN, 'model_calls', integer(use.calls + calls),
    'model_tokens', integer(use.tokens + tokens), 'model_nano', integer(use.nano + nano))
end
