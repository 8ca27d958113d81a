# Fields, associative arrays, patterns: a report of lines that it makes itself.
BEGIN {
    seed = 7
    for (i = 0; i < 200000; i++) {
        seed = (seed * 1103 + 12345) % 65536
        line = "host" seed % 31 " GET /page/" seed % 257 " " seed % 5 * 100 + 100 " " seed
        n = split(line, f, " ")
        hits[f[1]]++
        bytes[f[1]] += f[5]
        if (f[3] ~ /^\/page\/1[0-9]*$/) ones++
        if (match(line, /[0-9]+$/)) digits += RLENGTH
        gsub(/page/, "p", line)
        long += length(line)
    }
    for (h in hits) sum += hits[h] * bytes[h] % 1009
    print ones, digits, long, sum
}
