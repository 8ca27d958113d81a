# A shell at work: loops, arithmetic, functions, cases, parameter expansion.
collatz() {
    n=$1 steps=0
    while [ "$n" -ne 1 ]; do
        case $((n & 1)) in
        0) n=$((n / 2)) ;;
        1) n=$((3 * n + 1)) ;;
        esac
        steps=$((steps + 1))
    done
}
i=1 total=0 text=
while [ $i -le 1500 ]; do
    collatz $i
    total=$((total + steps))
    text=${text#??????????}$steps
    i=$((i + 1))
done
echo "$total ${#text} ${text%%1*}"
