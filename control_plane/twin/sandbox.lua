-- What a script finds around it on a server: `redis`, `cjson`, KEYS, ARGV, a few libraries, and no
-- way to leave anything behind. Runs once in a fresh Lua 5.1.
-- Arguments: dispatch(name, …) -> reply, errors as a table; sha1hex(text); the chunks of cjson.
-- Results: prepare(chunk) -> script; run(script, keys, args) -> true, result | false, {text, line};
-- limit(instructions): a script that goes on for longer fails; trace() -> {line: true}, into which the
-- lines of scripts are put as they run.

local dispatch, sha1hex, make_decode, make_encode = ...

local type, error, rawset, setmetatable, tostring = type, error, rawset, setmetatable, tostring
local select = select
local raw_pcall, raw_xpcall, getinfo = pcall, xpcall, debug.getinfo
local find, sub = string.find, string.sub

local null = newproxy()
local decode_text, encode_value = make_decode(null), make_encode(null)

-- An error of the twin itself (a Python exception) goes through every pcall of a script.
local function foreign(problem) return type(problem) == 'userdata' and problem ~= null end

local function failed(reply) return type(reply) == 'table' and reply.err ~= nil end

local function reply_with(field, text)
  if type(text) ~= 'string' then return { err = 'ERR wrong number or type of arguments' } end
  return { [field] = text }
end

local redis = {
  LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
  pcall = dispatch,
  call = function(...)
    local reply = dispatch(...)
    if failed(reply) then error(reply, 0) end
    return reply
  end,
  sha1hex = function(...)
    if select('#', ...) ~= 1 then error({ err = 'ERR wrong number of arguments' }, 0) end
    local text = ...
    local kind = type(text)
    return sha1hex((kind == 'string' or kind == 'number') and tostring(text) or '')
  end,
  log = function(...)
    if select('#', ...) < 2 then
      error({ err = 'ERR redis.log() requires two arguments or more.' }, 0)
    end
  end,
  status_reply = function(text) return reply_with('ok', text) end,
  error_reply = function(text)
    if type(text) ~= 'string' then return reply_with('err', text) end
    if sub(text, 1, 1) == '-' then text = sub(text, 2) end
    if not find(text, ' ', 1, true) then text = 'ERR ' .. text end
    return { err = text }
  end,
}

-- Complaints carry the line of the caller, hence the level 2.
local function decode(...)
  if select('#', ...) ~= 1 then error("bad argument #1 to 'decode' (expected 1 argument)", 2) end
  local text = ...
  local kind = type(text)
  if kind ~= 'string' and kind ~= 'number' then
    error("bad argument #1 to 'decode' (string expected, got " .. kind .. ')', 2)
  end
  local ok, result = raw_pcall(decode_text, tostring(text))
  if not ok then error(result, 2) end
  return result
end

local function encode(...)
  if select('#', ...) ~= 1 then error("bad argument #1 to 'encode' (expected 1 argument)", 2) end
  local ok, result = raw_pcall(encode_value, (...))
  if not ok then error(result, 2) end
  return result
end

-- As on a server, a caught error reply is its text.
local function caught(ok, problem, ...)
  if not ok then
    if foreign(problem) then error(problem, 0) end
    if type(problem) == 'table' and problem.err ~= nil then problem = problem.err end
  end
  return ok, problem, ...
end

local function guarded_pcall(...) return caught(raw_pcall(...)) end

local function guarded_xpcall(body, handler)
  local escaped
  local function guarded(problem)
    if foreign(problem) then
      escaped = problem
      return problem
    end
    return handler(problem)
  end
  local function finish(...)
    if escaped then error(escaped, 0) end
    return ...
  end
  return finish(raw_xpcall(body, guarded))
end

local KEPT = {
  '_VERSION', 'assert', 'error', 'getmetatable', 'ipairs', 'math', 'next', 'pairs', 'rawequal',
  'rawget', 'select', 'setmetatable', 'string', 'table', 'tonumber', 'tostring', 'type',
  'unpack',
}

-- Randomness would make one seed give two histories.
math.random, math.randomseed = nil, nil

local known = {
  redis = redis, cjson = { decode = decode, encode = encode, null = null },
  pcall = guarded_pcall, xpcall = guarded_xpcall, os = { clock = os.clock },
}
for _, name in ipairs(KEPT) do known[name] = _G[name] end
setmetatable(known, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
})

-- Empty, so that every assignment to a global is noticed.
local globals = setmetatable({}, {
  __index = known,
  __newindex = function() error('Attempt to modify a readonly table', 2) end,
})
known._G = globals
function known.rawset(target, ...)
  if target == globals then error('Attempt to modify a readonly table', 0) end
  return rawset(target, ...)
end

-- The error reply for `problem`, and the line of the script it came from.
local function explained(problem)
  if foreign(problem) then return problem end
  local text
  if type(problem) == 'table' then
    text = problem.err ~= nil and tostring(problem.err) or 'ERR unknown error'
  else
    text = 'ERR ' .. tostring(problem)
  end
  for level = 2, 12 do
    local info = getinfo(level, 'Sl')
    if not info then break end
    if info.source == '@user_script' and info.currentline > 0 then
      return { text = text, line = info.currentline }
    end
  end
  return { text = text }
end

local function prepare(script)
  return setfenv(script, globals)
end

local sethook, most = debug.sethook, nil
local function limit(instructions) most = instructions end
local function break_off() error('ERR the script does not end', 0) end

local function run(script, keys, args)
  rawset(known, 'KEYS', keys)
  rawset(known, 'ARGV', args)
  -- Set anew, so that each script has all of them.
  if most then sethook(break_off, '', most) end
  local done, result = raw_xpcall(script, explained)
  return done, result
end

local function trace()
  local lines = {}
  sethook(function(_, line)
    if getinfo(2, 'S').source == '@user_script' then lines[line] = true end
  end, 'l')
  return lines
end

return prepare, run, limit, trace
