Sure! Here is a program that doubles a number.
