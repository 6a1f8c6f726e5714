-- cjson.encode as Redis's Lua has it: empty tables are objects, numbers keep 14 digits, `/` is
-- escaped.
-- Argument: the value that stands for null. Result: encode(value); raises text without a place.

local null = ...
local byte, find, format, gsub = string.byte, string.find, string.format, string.gsub
local concat, floor, huge = table.concat, math.floor, math.huge
local next, type, error = next, type, error

local DEPTH_LIMIT = 1000
local SPARSE_RATIO, SPARSE_SAFE = 2, 10

local LETTERS = {
  ['"'] = '\\"', ['\\'] = '\\\\', ['/'] = '\\/', ['\b'] = '\\b', ['\f'] = '\\f', ['\n'] = '\\n',
  ['\r'] = '\\r', ['\t'] = '\\t',
}
local function escape(letter) return LETTERS[letter] or format('\\u%04x', byte(letter)) end

local function quoted(text)
  if find(text, '[%c%z"\\/]') then text = gsub(text, '[%c%z"\\/]', escape) end
  return '"' .. text .. '"'
end

-- The length of `value` as an array, or -1 for an object.
local function array_length(value)
  local largest, items = 0, 0
  for key in next, value do
    if type(key) ~= 'number' or key < 1 or floor(key) ~= key then return -1 end
    -- The library counts in 32 bits: what does not fit becomes the smallest number.
    if key > largest then largest = key > 2147483647 and -2147483648 or key end
    items = items + 1
  end
  if largest > items * SPARSE_RATIO and largest > SPARSE_SAFE then
    error('Cannot serialise table: excessively sparse array', 0)
  end
  return largest
end

local function number_text(value)
  if value ~= value or value == huge or value == -huge then
    error('Cannot serialise number: must not be NaN or Inf', 0)
  end
  return format('%.14g', value)
end

local encode_value

local function encode_table(parts, n, value, depth)
  if depth > DEPTH_LIMIT then
    error('Cannot serialise, excessive nesting (' .. depth .. ')', 0)
  end
  local length = array_length(value)
  if length > 0 then
    for i = 1, length do
      parts[n + 1] = i == 1 and '[' or ','
      n = encode_value(parts, n + 1, value[i], depth)
    end
    parts[n + 1] = ']'
    return n + 1
  end
  local separator = '{'
  for key, item in next, value do
    local kind = type(key)
    if kind == 'number' then
      key = '"' .. number_text(key) .. '"'
    elseif kind == 'string' then
      key = quoted(key)
    else
      error('Cannot serialise ' .. kind .. ': table key must be a number or string', 0)
    end
    parts[n + 1], parts[n + 2], parts[n + 3] = separator, key, ':'
    n = encode_value(parts, n + 3, item, depth)
    separator = ','
  end
  if separator == '{' then n, parts[n + 1] = n + 1, '{' end
  parts[n + 1] = '}'
  return n + 1
end

function encode_value(parts, n, value, depth)
  local kind = type(value)
  if kind == 'table' then return encode_table(parts, n, value, depth + 1) end
  local text
  if kind == 'string' then
    text = quoted(value)
  elseif kind == 'number' then
    text = number_text(value)
  elseif kind == 'boolean' then
    text = value and 'true' or 'false'
  elseif value == nil or value == null then
    text = 'null'
  else
    error('Cannot serialise ' .. kind .. ': type not supported', 0)
  end
  parts[n + 1] = text
  return n + 1
end

local function encode_all(value)
  local parts = {}
  return concat(parts, '', 1, encode_value(parts, 0, value, 0))
end

return encode_all
