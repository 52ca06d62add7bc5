# class: resources
# seconds: 0.5
while :; do :; done
