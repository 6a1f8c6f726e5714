-- The turn to speak for the conductor of a session: one process has it at a time.
-- KEYS[1]  cp:turn:{session}  string  until when it lasts (ms), and the token of who has it   (the
--          derived names of the prelude are not used)
-- ARGV[1]  {do: take, keep or leave, token, ms: so long from now}
-- Reply    1 when the caller has it, or by leaving had it, else 0
-- One that ended, also of one's own, is not kept: another may have had it since.

local held = redis.call('GET', META) or ''
local till, token = string.match(held, '^(%d+) (.*)$')
local lasts = till and tonumber(till) > NOW
local mine = lasts and token == REQ.token
if REQ['do'] == 'leave' then
  if mine then redis.call('DEL', META) end
  return mine and 1 or 0
end
if not mine and (lasts or REQ['do'] == 'keep') then return 0 end
redis.call('SET', META, integer(NOW + REQ.ms) .. ' ' .. REQ.token, 'PX', integer(2 * REQ.ms))
return 1
