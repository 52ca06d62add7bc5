# class: persistence
# tiers: kernel docker
for place in /tmp /var/tmp /dev/shm . / /usr/lib; do
    echo here > $place/proctor-corpus-bash
done 2> /dev/null
read -r n
echo $((2 * n))
