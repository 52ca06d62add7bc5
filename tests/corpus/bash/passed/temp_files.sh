read -r n
echo $((2 * n)) > number
read -r answer < number
echo "$answer"
