double() { echo $(($1 + $1)); }
read -r n
double "$n" | while read -r answer; do echo "$answer"; done
