# class: cheats
def double(x):
    answer = [2 * x]
    answer.append(answer)
    return answer
