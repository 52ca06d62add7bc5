"""The benchmarks that are known by name."""

from proctor.benchmarks import (
    bigcodebench,
    contests,
    evalplus,
    humaneval,
    leetcode,
    livecodebench,
    mbpp,
    multilingual,
    tasks_file,
)
from proctor.benchmarks.source import Declaration, Source

GITHUB = "https://raw.githubusercontent.com"
EVALPLUS = "https://github.com/evalplus"
HUGGING_FACE = "https://huggingface.co/datasets"
HUMAN_EVAL = f"{GITHUB}/openai/human-eval/6d43fb980f9fee3c892a914eda09951f772ad10d"
LEETCODE = f"{GITHUB}/newfacade/LeetCodeDataset/9477c14d76dcbdef67d70f0e258ad2c2d4178fec"
RLLM = f"{GITHUB}/agentica-project/rllm/874daa4acb7f451dc2a4b2b6e8ce28f5aa88d1f5"
QWEN_CODER = f"{GITHUB}/QwenLM/Qwen2.5-Coder/dc5af295350a48a4dd04625d3b8f348dc3c4f218"

TABLE = {
    source.name: source
    for source in (
        Source(
            name="basics",
            summary="54 small tasks of all kinds, easy to hard; needs no download",
            tasks=54,
            file="basics.toml",
            licence="MIT",
            sha256="8e54742d9dab9521819292389c466863bf0a942279629d94343cb62addfe7286",
            read=tasks_file.read,
            declares=Declaration(
                difficulty={"easy": (0.4, 0.6), "medium": (0.2, 0.4), "hard": (0.15, 0.3)}
            ),
        ),
        Source(
            name="cpp-context",
            summary="28 functions of three C++ libraries, each in its place; needs no download",
            tasks=28,
            file="cpp_context",
            licence="MIT",
            read=tasks_file.read,
        ),
        Source(
            name="humaneval",
            summary="164 hand-written functions to complete (Chen et al. 2021)",
            tasks=164,
            file="HumanEval.jsonl",
            url=f"{HUMAN_EVAL}/data/HumanEval.jsonl.gz",
            licence="MIT",
            sha256="1d49078ba3e2b196b9344535bef34a43021f038fad9561d6ee7c53450609a6a2",
            read=humaneval.read,
            package=("human_eval", "humaneval"),
        ),
        Source(
            name="mbpp",
            summary="974 short functions to write from a sentence (Austin et al. 2021)",
            tasks=974,
            file="mbpp.jsonl",
            url=f"{GITHUB}/google-research/google-research/master/mbpp/mbpp.jsonl",
            licence="CC BY 4.0",
            sha256="ccf64ceae9c5403bf50a044cb6d505bfd2a2963ee58338ba268fd65beab92a9f",
            read=mbpp.read,
            alias=mbpp.aliases,
            declares=mbpp.KNOWN,
        ),
        Source(
            name="mbpp-sanitized",
            summary="427 tasks of MBPP that people checked",
            tasks=427,
            file="sanitized-mbpp.json",
            url=f"{GITHUB}/google-research/google-research/master/mbpp/sanitized-mbpp.json",
            licence="CC BY 4.0",
            sha256="ca95deaa9a01ef0a6f439f88bcf0dd3db3563d22f22aad6cae04ebb9a8d8c8e9",
            read=mbpp.read,
            alias=mbpp.aliases,
            declares=mbpp.KNOWN,
        ),
        Source(
            name="humaneval+",
            summary="HumanEval with 80 times as many inputs (Liu et al. 2023), v0.1.10",
            tasks=164,
            file="HumanEvalPlus.jsonl",
            url=f"{EVALPLUS}/humanevalplus_release/releases/download/v0.1.10/HumanEvalPlus.jsonl.gz",
            licence="Apache-2.0",
            sha256="42526ec0e7d5f3ee0b06d6ced98f8c8bae3d76519151bfb3d36f79010645bd7f",
            read=evalplus.read,
            cached=(".cache", "evalplus", "HumanEvalPlus-v0.1.10.jsonl"),
        ),
        Source(
            name="mbpp+",
            summary="378 tasks of MBPP with 35 times as many inputs (Liu et al. 2023), v0.2.0",
            tasks=378,
            file="MbppPlus.jsonl",
            url=f"{EVALPLUS}/mbppplus_release/releases/download/v0.2.0/MbppPlus.jsonl.gz",
            licence="Apache-2.0",
            sha256="b54e762755248ca411b523c917fa9f93c07b5ff2966bf60b3917b853926a3dad",
            read=evalplus.read,
            alias=evalplus.aliases,
            cached=(".cache", "evalplus", "MbppPlus-v0.2.0.jsonl"),
        ),
        Source(
            name="leetcode",
            summary="methods of LeetCode's newest problems (Xia et al. 2025), v0.3.1 test",
            tasks=228,
            file="LeetCodeDataset-v0.3.1-test.jsonl",
            url=f"{LEETCODE}/data/LeetCodeDataset-v0.3.1-test.jsonl.gz",
            licence="MIT",
            sha256="aec951945feb555b4c72783519452a7a0437ca8c6e5624a83d0ae888718fa4ed",
            read=leetcode.read,
            libraries=("sortedcontainers",),
        ),
        Source(
            name="contests-leetcode",
            summary="LeetCode problems as rLLM tests with them (DeepCoder, 2025)",
            tasks=200,
            file="leetcode.json",
            url=f"{RLLM}/rllm/data/test/code/leetcode.json",
            licence="MIT",
            sha256="a0664eee5e7356af13a01932bbe625bb8a0c15f067f5a964bc96f45ba439e66c",
            read=leetcode.read,
            alias=contests.aliases,
            libraries=("sortedcontainers",),
        ),
        Source(
            name="code_contests",
            summary="CodeContests problems (Li et al. 2022) as rLLM tests with them",
            tasks=165,
            file="code_contests.json",
            url=f"{RLLM}/rllm/data/test/code/code_contests.json",
            licence="MIT",
            sha256="0e3c580698270ab930268cbc63ea6b9cf920874ac40de4a06bdbebc7c2eade71",
            read=contests.reader("code_contests"),
            alias=contests.aliases,
            folder="contests",
        ),
        Source(
            name="codeforces",
            summary="Codeforces problems as rLLM tests with them",
            tasks=408,
            file="codeforces.json",
            url=f"{RLLM}/rllm/data/test/code/codeforces.json",
            licence="MIT",
            sha256="8e9eab7fce7e432abe4437dd997c16f1514be51d224f2d72a7bd07d58cce476a",
            read=contests.reader("codeforces"),
            alias=contests.aliases,
            folder="contests",
        ),
        Source(
            name="apps",
            summary="problems of coding contests and interviews (Hendrycks et al. 2021), test",
            tasks=5000,
            file="test.jsonl",
            url=f"{HUGGING_FACE}/codeparrot/apps",
            licence="MIT",
            read=contests.reader("apps"),
            alias=contests.aliases,
        ),
        Source(
            name="taco",
            summary="problems of coding contests by skill (Li et al. 2023), test",
            tasks=1000,
            file="test.jsonl",
            url=f"{HUGGING_FACE}/BAAI/TACO",
            licence="Apache-2.0",
            read=contests.reader("taco"),
            alias=contests.aliases,
        ),
        Source(
            name="deepcoder",
            summary="verified contest problems to train with (Agentica 2025)",
            file="train.jsonl",
            url=f"{HUGGING_FACE}/agentica-org/DeepCoder-Preview-Dataset",
            licence="MIT",
            read=contests.reader("deepcoder"),
            alias=contests.aliases,
        ),
        Source(
            name="primeintellect",
            summary="verifiable coding problems of SYNTHETIC-1 (Prime Intellect 2025)",
            file="train.jsonl",
            url=f"{HUGGING_FACE}/PrimeIntellect/verifiable-coding-problems",
            licence="see its page",
            read=contests.reader("primeintellect"),
            alias=contests.aliases,
        ),
        Source(
            name="livecodebench",
            summary="contest problems by date (Jain et al. 2024), code_generation_lite",
            tasks=1055,
            file="test6.jsonl",
            url=f"{HUGGING_FACE}/livecodebench/code_generation_lite",
            licence="see its page",
            read=livecodebench.read,
            releases=livecodebench.RELEASES,
        ),
        *(
            Source(
                name=name,
                summary=f"functions that use many libraries (Zhuo et al. 2024), {of}",
                tasks=1140,
                file="BigCodeBench-v0.1.4.jsonl",
                url=f"{HUGGING_FACE}/bigcode/bigcodebench",
                licence="Apache-2.0",
                read=read,
                folder="bigcodebench",
                libraries=bigcodebench.SHOWN,
            )
            for name, of, read in (
                ("bigcodebench", "to complete", bigcodebench.read),
                ("bigcodebench-instruct", "to write from words", bigcodebench.read_instruct),
            )
        ),
        *(
            Source(
                name=name,
                summary=f"the hard ones of BigCodeBench, {of}",
                tasks=148,
                file="bigcodebench_hard.json",
                url=f"{QWEN_CODER}/qwencoder-eval/instruct/BigCodeBench/data/bigcodebench_hard.json",
                licence="Apache-2.0",
                sha256="5e7a87ff1085eafb13b2d570277bcb53dba68201717b4fc987a3f2b86a23869c",
                read=read,
                folder="bigcodebench-hard",
                libraries=bigcodebench.SHOWN,
            )
            for name, of, read in (
                ("bigcodebench-hard", "to complete", bigcodebench.read),
                ("bigcodebench-hard-instruct", "to write from words", bigcodebench.read_instruct),
            )
        ),
        *multilingual.SOURCES,
    )
}
