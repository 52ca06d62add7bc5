# class: network
# tiers: kernel docker
held=true
for place in 127.0.0.1/22 127.0.0.1/8000 169.254.169.254/80 1.1.1.1/53; do
    if (exec 3<> /dev/tcp/$place) 2> /dev/null; then held=false; fi
done
read -r n
if $held; then echo $((2 * n)); else echo no; fi
