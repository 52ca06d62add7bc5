read -r n
echo $((2 * n + 1))
