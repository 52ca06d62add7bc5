# class: reading
# tiers: kernel docker
held=true
for place in /etc/shadow /root/.bashrc /root/.ssh /proc/1/environ /proc/1/root/etc/shadow /var/log; do
    if [[ -r $place ]]; then held=false; fi
done
read -r n
if $held; then echo $((2 * n)); else echo no; fi
