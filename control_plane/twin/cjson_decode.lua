-- cjson.decode as Redis's Lua has it: hexadecimal, infinite and NaN numbers are read, text after a
-- NUL is not, and complaints name the token and its place.
-- Argument: the value that stands for null. Result: decode(text); raises text without a place.

local null = ...
local byte, find, sub, match, char = string.byte, string.find, string.sub, string.match, string.char
local lower, gsub, concat = string.lower, string.gsub, table.concat
local floor, huge = math.floor, math.huge
local next, tonumber, error, select = next, tonumber, error, select

local DEPTH_LIMIT = 1000

local NAMES = {
  ['{'] = 'T_OBJ_BEGIN', ['}'] = 'T_OBJ_END', ['['] = 'T_ARR_BEGIN', [']'] = 'T_ARR_END',
  [','] = 'T_COMMA', [':'] = 'T_COLON', [''] = 'T_END', ['\0'] = 'T_END',
}
local ESCAPED = {
  ['"'] = '"', ['\\'] = '\\', ['/'] = '/', b = '\b', f = '\f', n = '\n', r = '\r', t = '\t',
}
local WORDS = { ['true'] = true, ['false'] = false, null = null }

local function fail(expected, found, position)
  error('Expected ' .. expected .. ' but found ' .. found .. ' at character ' .. position, 0)
end

local function utf8(code)
  if code < 0x80 then return char(code) end
  if code < 0x800 then return char(0xC0 + floor(code / 64), 0x80 + code % 64) end
  if code < 0x10000 then
    return char(0xE0 + floor(code / 4096), 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
  end
  return char(0xF0 + floor(code / 262144), 0x80 + floor(code / 4096) % 64,
    0x80 + floor(code / 64) % 64, 0x80 + code % 64)
end

-- A \u escape at `at`; text and the position after it, or nothing when it is malformed.
local function unicode(text, at)
  local digits = match(text, '^\\u(%x%x%x%x)', at)
  if not digits then return end
  local code = tonumber(digits, 16)
  if code >= 0xDC00 and code <= 0xDFFF then return end
  if code < 0xD800 or code > 0xDFFF then return utf8(code), at + 6 end
  local low = match(text, '^\\u(%x%x%x%x)', at + 6)
  low = low and tonumber(low, 16)
  if not low or low < 0xDC00 or low > 0xDFFF then return end
  return utf8(0x10000 + (code - 0xD800) * 1024 + low - 0xDC00), at + 12
end

-- The string whose quote stands at `at`: text and the position after it, or nil, what is wrong and
-- where.
local function scan_string(text, at)
  local stop = find(text, '["\\%z]', at + 1)
  if stop and byte(text, stop) == 34 then return sub(text, at + 1, stop - 1), stop + 1 end
  local parts, n, from = {}, 0, at + 1
  while true do
    stop = find(text, '["\\%z]', from)
    local code = stop and byte(text, stop)
    if not code or code == 0 then
      return nil, 'unexpected end of string', stop or #text + 1
    end
    n = n + 1
    parts[n] = sub(text, from, stop - 1)
    if code == 34 then return concat(parts), stop + 1 end
    local letter = sub(text, stop + 1, stop + 1)
    n = n + 1
    if letter == 'u' then
      local piece, after = unicode(text, stop)
      if not piece then return nil, 'invalid unicode escape code', stop end
      parts[n], from = piece, after
    elseif ESCAPED[letter] then
      parts[n], from = ESCAPED[letter], stop + 2
    else
      return nil, 'invalid escape code', stop
    end
  end
end

-- Where a hexadecimal number that starts at `at` ends, if there is one.
local function hexadecimal(text, at)
  local _, stop = find(text, '^[+-]?0[xX]%x+%.?%x*', at)
  if not stop then _, stop = find(text, '^[+-]?0[xX]%.%x+', at) end
  return stop and (select(2, find(text, '^[pP][+-]?%d+', stop + 1)) or stop)
end

-- Where a number that starts at `at` ends, if there is one.
local function number_end(text, at)
  local _, stop = find(text, '^[+-]?%d+', at)
  if not stop then
    _, stop = find(text, '^[+-]%.%d+', at)
  elseif byte(text, stop + 1) == 46 then
    stop = select(2, find(text, '^%d*', stop + 2))
  end
  if not stop then return end
  local code = byte(text, stop + 1)
  if code == 69 or code == 101 then
    return select(2, find(text, '^[eE][+-]?%d+', stop + 1)) or stop
  end
  if code == 88 or code == 120 then return hexadecimal(text, at) or stop end
  return stop
end

-- The number at `at` as the C library reads it: value and the position after it, or nothing.
local function scan_number(text, at)
  local stop = number_end(text, at)
  if stop then return tonumber((gsub(sub(text, at, stop), '^%+', ''))), stop + 1 end
  local sign, word = match(text, '^([+-]?)(%a+)', at)
  if not word then return end
  word = lower(word)
  local factor = sign == '-' and -1 or 1
  if find(word, '^infinity') then return factor * huge, at + #sign + 8 end
  if find(word, '^inf') then return factor * huge, at + #sign + 3 end
  if find(word, '^nan') then return 0 / 0, at + #sign + 3 end
end

-- What stands at `at`, in the library's words: for complaints only.
local function describe(text, at)
  local letter = sub(text, at, at)
  if NAMES[letter] then return NAMES[letter], at end
  if letter == '"' then
    local value, problem, where = scan_string(text, at)
    if not value then return problem, where end
    return 'T_STRING', at
  end
  for word, value in next, WORDS do
    if sub(text, at, at + #word - 1) == word then
      return value == null and 'T_NULL' or 'T_BOOLEAN', at
    end
  end
  if scan_number(text, at) then return 'T_NUMBER', at end
  return find(letter, '^[%d+-]') and 'invalid number' or 'invalid token', at
end

local function unexpected(expected, text, at)
  fail(expected, describe(text, at))
end

local function skip(text, at) return find(text, '[^ \t\r\n]', at) or #text + 1 end

local decode_value

local function check_depth(depth, at)
  if depth > DEPTH_LIMIT then
    error('Found too many nested data structures (' .. depth .. ') at character ' .. at, 0)
  end
end

local function decode_array(text, at, depth)
  check_depth(depth, at)
  local result, n = {}, 0
  at = skip(text, at + 1)
  if byte(text, at) == 93 then return result, at + 1 end
  while true do
    n = n + 1
    result[n], at = decode_value(text, at, depth)
    at = skip(text, at)
    local code = byte(text, at)
    if code == 93 then return result, at + 1 end
    if code ~= 44 then unexpected('comma or array end', text, at) end
    at = skip(text, at + 1)
  end
end

local function decode_object(text, at, depth)
  check_depth(depth, at)
  local result = {}
  at = skip(text, at + 1)
  if byte(text, at) == 125 then return result, at + 1 end
  while true do
    if byte(text, at) ~= 34 then unexpected('object key string', text, at) end
    local key, after, where = scan_string(text, at)
    if not key then fail('object key string', after, where) end
    at = skip(text, after)
    if byte(text, at) ~= 58 then unexpected('colon', text, at) end
    result[key], at = decode_value(text, skip(text, at + 1), depth)
    at = skip(text, at)
    local code = byte(text, at)
    if code == 125 then return result, at + 1 end
    if code ~= 44 then unexpected('comma or object end', text, at) end
    at = skip(text, at + 1)
  end
end

function decode_value(text, at, depth)
  local code = byte(text, at)
  if code == 34 then
    local value, after, where = scan_string(text, at)
    if not value then fail('value', after, where) end
    return value, after
  end
  if code == 123 then return decode_object(text, at, depth + 1) end
  if code == 91 then return decode_array(text, at, depth + 1) end
  if code == 116 and sub(text, at, at + 3) == 'true' then return true, at + 4 end
  if code == 102 and sub(text, at, at + 4) == 'false' then return false, at + 5 end
  if code == 110 and sub(text, at, at + 3) == 'null' then return null, at + 4 end
  local value, after = scan_number(text, at)
  if not after then unexpected('value', text, at) end
  return value, after
end

local function decode_all(text)
  if find(text, '^%z.') or find(text, '^.%z') then
    error('JSON parser does not support UTF-16 or UTF-32', 0)
  end
  local value, at = decode_value(text, skip(text, 1), 0)
  at = skip(text, at)
  local code = byte(text, at)
  if code and code ~= 0 then unexpected('the end', text, at) end
  return value
end

return decode_all
