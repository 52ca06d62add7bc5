# class: persistence
# tiers: kernel docker
(while :; do read -r -t 60 never <> <(:); done > /dev/null 2>&1 &)
read -r n
echo $((2 * n))
