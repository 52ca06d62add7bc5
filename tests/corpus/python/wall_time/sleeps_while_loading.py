# kinds: plain calls
# class: resources
# seconds: 0.4
import time

time.sleep(1000)
