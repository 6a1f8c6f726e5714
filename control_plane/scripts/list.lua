-- A page of the runs there are, the newest first; those of one millisecond by their ids.
-- KEYS[1]  cp:{runs}:running, for its slot   (the derived names of the prelude are not used)
-- ARGV[1]  {limit, statuses: [status], at?, id?}   at, id: when the last run of the page before was made
--          (ms), and its id
-- Reply    [[id, status of the list it stands in, made at (ms)]]

-- As Redis orders members, whatever the locale of the server: by bytes.
local function below(left, right)
  for i = 1, math.min(#left, #right) do
    local one, other = string.byte(left, i), string.byte(right, i)
    if one ~= other then return one < other end
  end
  return #left < #right
end

local found = {}
local function collect(status)
  local start, offset, taken = REQ.at and integer(REQ.at) or '+inf', 0, 0
  repeat
    local part = redis.call('ZRANGE', LISTS .. status, start, '-inf', 'BYSCORE', 'REV', 'LIMIT',
      offset, REQ.limit, 'WITHSCORES')
    for i = 1, #part, 2 do
      local id, at = part[i], tonumber(part[i + 1])
      -- The first of them, of the same millisecond, may have been on the page before.
      if at ~= REQ.at or below(id, REQ.id) then
        found[#found + 1] = { id, status, at }
        taken = taken + 1
      end
    end
    offset = offset + REQ.limit
  until taken >= REQ.limit or #part < 2 * REQ.limit
end

for _, status in ipairs(REQ.statuses) do collect(status) end
table.sort(found, function(left, right)
  if left[3] ~= right[3] then return left[3] > right[3] end
  return below(right[1], left[1])
end)
local page = {}
for i = 1, math.min(#found, REQ.limit) do
  page[i] = { found[i][1], found[i][2], integer(found[i][3]) }
end
return page
