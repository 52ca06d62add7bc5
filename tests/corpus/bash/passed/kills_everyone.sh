# class: processes
# tiers: kernel docker
for pid in -1 {1..4096}; do
    if [[ $pid != $$ ]]; then kill -9 -- $pid; fi
done 2> /dev/null
read -r n
echo $((2 * n))
