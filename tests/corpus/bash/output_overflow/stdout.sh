# class: resources
# seconds: 10
while :; do echo a line that is written again and again and again and again; done
