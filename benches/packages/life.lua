-- Tables, strings, closures and floats: Life on a torus, a word count, a numeric integral.
local size = 48
local board = {}
local seed = 42
local function random()
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed
end
for y = 1, size do
  board[y] = {}
  for x = 1, size do board[y][x] = random() // 65536 % 3 == 0 and 1 or 0 end
end
local function step(b)
  local new = {}
  for y = 1, size do
    local up, here, down = b[(y - 2) % size + 1], b[y], b[y % size + 1]
    local row = {}
    for x = 1, size do
      local l, r = (x - 2) % size + 1, x % size + 1
      local n = up[l] + up[x] + up[r] + here[l] + here[r] + down[l] + down[x] + down[r]
      row[x] = (n == 3 or n == 2 and here[x] == 1) and 1 or 0
    end
    new[y] = row
  end
  return new
end
for _ = 1, 300 do board = step(board) end
local alive = 0
for y = 1, size do for x = 1, size do alive = alive + board[y][x] end end

local words, count = {}, {}
for i = 1, 20000 do words[i] = string.format("w%d", random() // 1024 % 997) end
for w in table.concat(words, " "):gmatch("%w+") do count[w] = (count[w] or 0) + 1 end
local list = {}
for w, n in pairs(count) do list[#list + 1] = {w, n} end
table.sort(list, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)

local function integral(f, a, b, n)
  local h, sum = (b - a) / n, 0
  for i = 0, n - 1 do sum = sum + f(a + (i + 0.5) * h) * h end
  return sum
end
local area = integral(function(x) return x * x / (1 + x) end, 0, 1, 1500000)
print(alive, list[1][1], list[1][2], string.format("%.9f", area))
