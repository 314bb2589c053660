"""Owns the tables of the content scanner: characters nobody sees, look-alikes, and phrases.

Phrases are searched in folded text (lower case, no accents on Latin letters, look-alikes
replaced), so the patterns are written that way. Gaps are bounded and never cross a sentence.
"""

# Unicode 15.1, Default_Ignorable_Code_Point and format characters (general category Cf), line and
# paragraph separators, C0 and C1 controls but tab, line feed and carriage return.
HIDDEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200d\u2028\u2029\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# UAX 9: embeddings, overrides, isolates; and the marks, which right-to-left text may use.
BIDI = "\u202a-\u202e\u2066-\u2069"
BIDI_MARKS = "\u200e\u200f\u061c"
RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
# Scripts whose spelling needs a zero-width joiner or non-joiner between letters.
JOINING = (
    "\u0600-\u08ff\u0900-\u0dff\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\ufb50-\ufdff"
)
IDEOGRAPHS = (
    "\u2e80-\u2fff\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Japanese and Chinese text writes Latin letters in full width too.
WIDE_LATIN_USERS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
# Letters of one style that read as Latin: full width, mathematical, enclosed.
STYLED = "\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\u24b6-\u24e9\U0001f130-\U0001f189"

# UTS 39 confusables that matter inside Latin words: one Latin letter each.
_CYRILLIC = (
    "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwѵvӏlАAВBЕEКKМMНHОOРPСCТTУYХXІIЈJЅSԌGԚQԜWѴVҮYғfзz3кkтtмmнhвb"
).replace("3", "")
_GREEK = "αaοoνvρpιiκkτtυuχxγyηnωwΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXϲcϳjϹC"
_OTHERS = "օoսuհhոnցgքpԳSԼLՕOᎪAᏴBᏟCᎠDᎬEᏀGᎻHᎫJᏦKᏞLᎷMᏢPᏒRᏚSᎢTᏙVᎳWᏃZɡgɑaıiǀlℓlⅼlⅰiꓐBꓑPꓓD"


def _pairs(text: str) -> "dict[int, str]":
    return {ord(text[at]): text[at + 1] for at in range(0, len(text) - 1, 2)}


CONFUSABLE = {**_pairs(_CYRILLIC), **_pairs(_GREEK), **_pairs(_OTHERS)}

_OLD = "previous|prior|above|earlier|preceding|existing|original|foregoing|former"
_RULES = (
    "instructions?|rules?|directives?|prompts?|guidelines?|polic(?:y|ies)|commands?|guardrails?"
    "|restrictions?|programming|training|protocols?|safeguards|instruction sets?|directions"
)
_ANY = f"all|any|every|{_OLD}|your|my|our|these|those|the|of|system|developer|developers?'?s?"
_SECRETS = (
    r"id_rsa|id_ed25519|\.ssh\b|\.env\b|\.aws\b|\.netrc|credentials?\b|secrets?\b|api[- _]?keys?\b"
    r"|private keys?\b|ssh keys?\b|passwords?\b(?! reset)|environment variables|access tokens?\b"
    r"|session tokens?\b|customer (?:list|emails?|data|records)|source code\b"
)
_USER = r"(?:the |your |any |human )?(?:users?|operators?|humans?|developers?|reviewers?)\b"
_HERE = r"(?:this|these|those|that|it|the (?:above|following)|your)"

_NAMED = {
    "<OLD>": _OLD,
    "<RULES>": _RULES,
    "<ANY>": _ANY,
    "<SECRETS>": _SECRETS,
    "<USER>": _USER,
    "<HERE>": _HERE,
}


def _any_of(*phrases: str) -> str:
    """One pattern that matches any of `phrases`, in which `<NAME>` stands for a part above."""
    pattern = "|".join(phrases)
    for name, part in _NAMED.items():
        pattern = pattern.replace(name, part)
    return pattern


# Overriding instructions. A match counts only with a word of `STRONG` in it.
OVERRIDE = _any_of(
    (
        r"\b(?:ignor(?:e|ing)|disregard|forget|bypass|override|neglect|discard|abandon|drop|"
        r"skip|violate|supersedes?)\s+(?:(?:<ANY>|safety|security|content|ethical|moderation|"
        r"and|about|to|other|initial|current|user'?s?|prior ones)\s+){1,6}(?:<RULES>|messages|"
        r"safety checks)\b"
    ),
    (
        r"\b(?:ignore|disregard|forget)\s+(?:everything|all|"
        r"anything)(?:\s+\w+){0,3}\s+(?:above|before|said|previously|prior|told)\b"
    ),
    r"\b(?:ignore|disregard)\s+(?:the\s+)?above\b",
)

STRONG = frozenset(
    f"{_OLD}|all|any|every|your|system|developer|developers|safety|security|everything|anything"
    "|ethical|moderation|content|initial".split("|")
)


INJECTION = _any_of(
    # Instructions declared void, replaced, or spoken with borrowed authority.
    (
        r"\b(?:<OLD>)\s+(?:\w+\s+){0,2}?(?:<RULES>|tasks?|messages)\s+(?:is|are|was|were|"
        r"ha(?:s|ve) been|no longer)\s+(?:now\s+)?(?:void|null|cancel\w*|revoked|overrid\w+|"
        r"invalid|apply|lifted|suspended|compromised)"
    ),
    r"\bsupersedes? all (?:prior|previous|other)",
    r"(?:^|[.;:!\n]\s{0,3})override\s?:",
    (
        r"\bnew (?:instructions?|directives?|orders?|task) from (?:the |your )?(?:developers?|"
        r"system|admin\w*|operator|openai|anthropic|owner)"
    ),
    (
        r"\byour (?:new|real|true|actual|only) (?:task|directive|instructions?|goal|purpose|"
        r"role|mission)"
    ),
    (
        r"\b(?:new|updated) (?:instruction|directive|task)\s*:\s*(?:ignore|disregard|reply|"
        r"respond|send|output|print|call|run|delete|list|reveal)"
    ),
    # Persona and lifted limits.
    r"\byou are (?:now|no longer)\s+(?:a|an|in|dan|the|free|un\w+|going)\b",
    (
        r"\byou(?:'re| are)? (?:now )?(?:have|are free (?:of|from)|with) no (?:restrictions|"
        r"limits|rules|filters?|guidelines|constraints)"
    ),
    (
        r"\b(?:ai|assistant|model|chatbot|bot|llm|gpt\w*|dan|"
        r"version of you)\b[^.\n]{0,60}?\b(?:without|(?:has|have|with|had) no|free (?:of|from)|"
        r"not bound by|no longer bound by)\s+(?:any\s+|all\s+|"
        r"the\s+)?(?:\w+\s+)?(?:restrictions?|limit\w*|filters?|rules|polic(?:y|ies)|"
        r"guidelines|constraints|censorship|boundaries|morals?|ethic\w*)"
    ),
    (
        r"\b(?:un(?:restricted|censored|filtered|moderated))\s+(?:ai|assistant|model|mode|"
        r"chatbot|bot|version|response|answers?|language)"
    ),
    r"\bdo anything now\b",
    r"\bjailbr(?:eak|oken)\w*",
    (
        r"\b(?:enable|enter|activate|in|into)\s+(?:god|dan|developer|jailbreak|unrestricted|"
        r"debug admin) mode\b[^.\n]{0,40}?(?:ignore|no |restrict|without|disabled|can |will |$)"
    ),
    r"\b(?:stay|remain|never break|do not break|don't break) (?:in )?character\b",
    (
        r"\b(?:disable|turn off|switch off|deactivate|remove|bypass|circumvent)\s+(?:all\s+|"
        r"the\s+|any\s+|your\s+)*(?:safety|security|ethical|content|moderation)\s+(?:checks?|"
        r"filters?|protocols?|measures?|guidelines?|guardrails?|restrictions?|features?|"
        r"polic\w+)"
    ),
    (
        r"\bsafety (?:protocols?|guidelines?|checks?|filters?|rules?)\s+(?:are|were|have been|"
        r"is)?\s*(?:disabled|off|not meant|do not apply|don't apply|suspended|bypassed)"
    ),
    (
        r"\bskip (?:all )?(?:the )?(?:permission (?:prompts?|checks?|requests?)|safety checks?|"
        r"confirmations? and)"
    ),
    (
        r"\bexempt from (?:the |all |any )?(?:usual |normal )?(?:restrictions|rules|polic\w+|"
        r"guidelines)"
    ),
    # The system prompt.
    (
        r"\b(?:reveal|show|print|output|repeat|display|dump|leak|expose|tell|give|share|"
        r"reproduce|recite|summari[sz]e|extract|disclose|paste|write out|what (?:is|are|was|"
        r"were))\b[^.\n]{0,25}?\b(?:your (?:\w+\s+){0,2}?(?:prompt|instructions|guidelines|"
        r"programming|rules)|system (?:prompt|message|instructions)|hidden (?:\w+ )?(?:prompt|"
        r"instructions)|(?:initial|original|developer|exact) (?:\w+ )?(?:prompt|instructions)|"
        r"context window)\b"
    ),
    r"\brepeat (?:the|all|every)\s+(?:words?|text|everything)\s+above",
    # Speaking to the machine, or as the conversation.
    (
        r"\b(?:note|notice|important|message|instructions?|attention)\s+(?:to|for)\s+(?:any |"
        r"all |the )?(?:ai|llm|bots?|assistants?|language model|gpt|chatbot)\b"
    ),
    r"\bif you are (?:reading this|an? (?:ai|llm|assistant|language model))",
    r"\bhereby (?:instructed|ordered|commanded)\b",
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id)\|>",
    r"\[/?inst\]",
    r"<</?sys>>",
    r"\[system\]",
    r"</(?:untrusted\w*|system|tool_result|function_results?)>",
    r"\b(?:decode|decrypt)\b[^.\n]{0,40}?\b(?:follow|execute|obey|do (?:exactly )?what)\b",
    (
        r"\b(?:obey|follow|execute)\s+(?:only\s+)?(?:the\s+|all\s+|any\s+)?(?:instructions?|"
        r"commands?)\s+(?:from|in|inside|found in)\s+(?:the\s+|any\s+)?(?:tool|web|page|"
        r"document|file|email|result)"
    ),
    (
        r"\btreat (?:the )?(?:tool|web|page|search|file) (?:results?|outputs?|"
        r"content)\s+as\s+(?:commands?|instructions?|orders?)"
    ),
    (
        r"\bwhatever (?:the|this|that|any) (?:web ?page|page|site|document|file|tool|"
        r"email)\s+(?:says|asks|tells|wants)"
    ),
    (
        r"\buser has (?:already |now |also )*(?:approved|granted|authori[sz]ed|consented|"
        r"given)\b[^.\n]{0,30}?\b(?:every|all|any|future|this step|skip|permission|"
        r"everything)\b"
    ),
    r"\bbefore (?:you )?(?:reply|respond|answer)(?:ing)?\b(?! code)",
    r"\bsystem (?:note|update|override|alert)\s?:",
    r"\byou may now\b",
    r"\byour rules have changed\b",
    (
        r"\b(?:at the end of|to|in|end|begin|start) (?:your|every|each|"
        r"all) (?:future )?(?:repl(?:y|ies)|responses?|answers?|summar(?:y|ies))\b"
    ),
    r"\bfor the (?:rest|remainder) of (?:this|the) (?:conversation|session|task|chat)",
    r"\b(?:comply with|grant|fulfil+|obey) (?:every|all|any) (?:requests?|commands?|orders?)",
    r"\bfrom (?:now|this point) (?:on|forward),? you\b",
    (
        r"\b(?:save|store|write|add|commit) (?:this|the following)(?: \w+)? (?:to|"
        r"in) your (?:\w+-?\w* )?memory\b"
    ),
    r"\bregardless of (?:\w+ )?(?:legal\w*|ethic\w*|moral\w*)",
    r"\bnever (?:refuse|decline) (?:a|any|to)\b",
    (
        r"\b(?:against|violat\w+|break\w*) (?:your|openai'?s?|the) (?:content )?(?:polic|"
        r"programming)"
    ),
    # Our own store.
    (
        r"\bmark (?:this|these|all) (?:memor(?:y|ies)|rules?|facts?|entr(?:y|"
        r"ies))\s+as\s+(?:human|trusted|user|confirmed|verified|permanent)"
    ),
    r"\bautonomy_level\b[^.\n]{0,10}?\b(?:off|full|none|max)",
    r"\bdelete (?:all|every) (?:pitfalls?|memor(?:y|ies)|polic(?:y|ies)|stored rules?)",
)

# Concealing something from the user, or disobeying them.
INSTRUCTION = _any_of(
    (
        r"\b(?:never|not|don'?t|without)\s+(?:ever\s+|to\s+|even\s+)?(?:tell|telling|inform|"
        r"informing|notify|notifying|alert|alerting|warn|warning|ask|asking|let|"
        r"consult\w*)\s+<USER>(?!')"
    ),
    (
        r"\b(?:never|not|don'?t|without)\s+(?:ever\s+)?(?:mention|mentioning|reveal|revealing|"
        r"disclos(?:e|ing)|show|showing|report|reporting|share|sharing|say|explain|"
        r"admit)\s+<HERE>\b[^.\n]{0,30}?(?:\b(?:to|with|from)\s+<USER>|instructions?|memor(?:y|"
        r"ies)|rules?\b|prompt)"
    ),
    r"\b(?:hide|conceal|keep|withhold)\b[^.\n]{0,40}?\b(?:secret |hidden )?from\s+<USER>(?!')",
    (
        r"\b(?:ignore|disregard|disobey|overrule|override|deceive|lie to|mislead|"
        r"trick)\s+<USER>(?:\s*[.,;:!]|\s+and\b|\s*$|'s? (?:instructions?|requests?|wish\w*|"
        r"objections?|commands?|orders?|task|preferences|decision))"
    ),
    (
        r"\b(?:do not|don'?t|never|stop)\s+(?:follow|obey|listen to|comply with|following|"
        r"obeying|trust)\s+<USER>(?:'s?)?"
    ),
    (
        r"\beven (?:if|when|though) <USER>\s+(?:disagree|object|say|refuse|ask|tell|forbid|"
        r"complain)"
    ),
    (
        r"\b(?:when|if|whenever) <USER>\s+(?:asks?|says?|tells?|wants?|"
        r"objects?)\b[^.\n]{0,40}?\b(?:anyway|regardless|refuse|do not comply|lie\b|pretend)"
    ),
    r"\bsilently\s+(?:add|run|push|commit|delete|send|install|append|execute|upload|include)\b",
    (
        r"\b(?:pretend|claim|report|say|act as if|act like)\s+(?:that\s+)?(?:the\s+|"
        r"all\s+)*(?:tests?|build|checks?|task)\s+(?:has |have |is |are )?(?:pass\w*|"
        r"succeed\w*|succeeded|green|done)\b[^.\n]{0,20}?\b(?:even|although|when|regardless|"
        r"if)\b"
    ),
    r"\bdo not report (?:it|this|them)\b",
)

# Carrying secrets out.
EXFILTRATION = _any_of(
    (
        r"\b(?:send|upload|post|e-?mail|forward|exfiltrate|transmit|leak|mail|submit|push|copy|"
        r"collect)\b[^\n]{0,70}?(?:<SECRETS>)[^\n]{0,70}?(?:https?://|\bto\s+\S+@\S|\bexternal|"
        r"webhook|attacker|pastebin|\bthem to\b)"
    ),
    (
        r"\b(?:e-?mail|send|forward)\b[^.\n]{0,40}?\b(?:full|entire|complete|all|"
        r"copy of)\b[^\n]{0,50}?\bto\s+\S+@\S"
    ),
    (
        r"\b(?:encode|put|include|paste|embed|append|write|hide|"
        r"smuggle)\b[^.\n]{0,30}?\b(?:secrets?|credentials?|api keys?|tokens|passwords?|"
        r"environment variables|private keys?)\b[^.\n]{0,40}?\b(?:in|into|to|as)\s+(?:the\s+|"
        r"a\s+|an\s+|every\s+|your\s+)?(?:next\s+)?(?:pr\b|pull request|commit|issue|comment|"
        r"url|description|image|query|dns|request|readme)"
    ),
    (
        r"\b(?:curl|wget|nc|fetch)\b[^\n]{0,80}?(?:id_rsa|id_ed25519|\.ssh/|/\.env\b|@\.env|"
        r"\.aws/cred|\.netrc)"
    ),
    (
        r"(?:cat|type|base64)\s+\S*(?:id_rsa|\.ssh/|\.env\b|\.aws/cred)\S*\s*\|\s*(?:curl|nc|"
        r"wget|base64)"
    ),
    (
        r"\b(?:output|dump|print|list|show)\b[^.\n]{0,20}?\b(?:raw|entire|full|whole|"
        r"all)\s+(?:customer database|environment variables|credentials|secrets|api keys)"
    ),
)

# Other languages: the same meanings.
OTHER_INJECTION = _any_of(
    # Korean
    (
        r"(?:이전|앞선|앞|위|지금까지|모든|기존|지난|상기)의?[^.\n린경]{0,12}(?:지시|명령|규칙|"
        r"지침|프롬프트|안내)[^.\n]{0,10}(?:무시|무효|잊|따르지|어기|버려|버리|취소)"
    ),
    r"(?:너는|넌|당신은|네가)\s*(?:이제|지금)[^.\n]{0,20}(?:제한|제약|검열|규칙|ai|봇|모드)",
    r"(?:제한|제약|검열)(?:이|도)?\s*없(?:는|이)\s*(?:ai|인공지능|모델|어시스턴트|답|응답|모드)",
    r"시스템\s*(?:프롬프트|메시지|지시)[를을]?\s*(?:출력|공개|보여|알려|말해|노출|유출|복사)",
    r"개발자\s*모드[^.\n]{0,10}(?:켜|활성|진입|전환)",
    r"(?:안전|보안)\s*(?:검사|장치|점검|필터|규칙)[^.\n]{0,8}(?:끄|꺼|비활성|해제|무시|우회)",
    r"(?:권한|승인)\s*(?:확인|요청|절차)[^.\n]{0,8}(?:무시|생략|건너뛰)",
    r"(?:항상|무조건|모두)\s*승인(?:해|하라|하세요)",
    # Japanese, Chinese
    (
        r"(?:以前|上記|これまで|前|すべて|全て)の?[^。\n]{0,8}(?:指示|命令|ルール|規則|"
        r"プロンプト)[^。\n]{0,6}無視"
    ),
    r"システムプロンプトを[^。\n]{0,6}(?:表示|出力|教え|公開)",
    (
        r"(?:忽略|无视|忘记|忘掉|無視|忽視)[^。\n]{0,8}(?:之前|以上|先前|所有|前面|上述|"
        r"此前)?[^。\n]{0,6}(?:指令|指示|规则|規則|提示词|命令)"
    ),
    r"(?:显示|输出|透露|告诉我)[^。\n]{0,8}系统提示",
    # French, Spanish, Italian, Portuguese, German, Dutch, Russian
    (
        r"\b(?:ignore[rz]?|oublie[rz]?|"
        r"ne tiens? pas compte)\s+(?:de\s+)?(?:toutes?\s+)?(?:les\s+|vos\s+|tes\s+|"
        r"ces\s+)?(?:instructions|consignes|regles|directives)"
    ),
    (
        r"\b(?:ignora|olvida|descarta|ignore|olvide)\w*\s+(?:todas\s+)?(?:las\s+|tus\s+|"
        r"sus\s+)?(?:instrucciones|reglas|indicaciones|directrices)"
    ),
    (
        r"\b(?:ignora|dimentica|trascura)\w*\s+(?:tutte\s+)?(?:le\s+)?(?:tue\s+|"
        r"precedenti\s+)?(?:istruzioni|regole|direttive)"
    ),
    (
        r"\b(?:ignore|esqueca|desconsidere)\s+(?:todas\s+)?(?:as\s+)?(?:suas\s+)?(?:instrucoes|"
        r"regras)"
    ),
    (
        r"\b(?:ignorier|vergiss|vergesst|"
        r"missacht)\w*\s+(?:sie\s+)?(?:alle\s+)?(?:(?:vorherigen|bisherigen|obigen|fruheren|"
        r"deine|die|ihre)\s+){0,2}(?:anweisungen|regeln|instruktionen|vorgaben|richtlinien)"
    ),
    r"\bvergiss alles\b",
    r"\bkeine (?:regeln|richtlinien|einschrankungen) mehr\b",
    r"\bneue anweisungen\s*:",
    r"\bnegeer\s+(?:alle\s+)?(?:vorige|eerdere)\s+instructies",
    r"(?:игнорируй|проигнорируй|забудь|не выполняй)\w*[^.\n]{0,25}(?:инструкц|указани|правил)",
    r"\bsin (?:restricciones|filtros?|censura)\b",
    r"\bsans (?:restrictions?|filtres?|censure)\b",
    r"\bsenza (?:restrizioni|filtri|censura)\b",
    r"\bohne (?:einschrankungen|beschrankungen|filter)\b",
    r"\b(?:du bist|sie sind) (?:jetzt|nun|ab sofort)\b",
    r"\bbefolgst keine\b",
    r"\bahora (?:eres|estas en)\b",
    r"\btu es (?:maintenant|desormais)\b",
    r"\bvous etes (?:maintenant|desormais)\b",
    r"\bora sei\b",
    (
        r"\b(?:muestra|revela|rivela|mostra|zeig|montre|revele|affiche|gib|"
        r"verrat)[\w-]*\s[^.\n]{0,25}?(?:system-? ?prompt|prompt (?:de|di|du) sistem\w+|"
        r"instrucciones (?:de|del) sistema|istruzioni di sistema|prompt systeme|tue istruzioni|"
        r"tus instrucciones|vos instructions|tes instructions|deine (?:system)?anweisungen)"
    ),
)

OTHER_INSTRUCTION = _any_of(
    (
        r"사용자(?:에게|한테|에겐|가)[^.\n]{0,20}(?:알리지|말하지|언급하지|밝히지|숨기|숨겨|"
        r"모르게|비밀)"
    ),
    r"사용자\s*(?:몰래|모르게)",
    r"사용자(?:의)?\s*(?:말|지시|명령|요청|의견)?[을를이가]?\s*(?:따르지|듣지|무시|거부|거역)",
    (
        r"사용자가[^.\n]{0,15}(?:반대|거부|멈추|중단)[^.\n]{0,8}(?:해도|라도|"
        r"더라도)[^.\n]{0,15}(?:계속|진행|실행)"
    ),
    (
        r"실패(?:해도|하더라도|했어도)[^.\n]{0,12}(?:통과|성공)(?:했|한|됐)?[^.\n]{0,4}(?:다고|"
        r"것으로|척)"
    ),
    (
        r"이\s*(?:사실|규칙|기억|메모|지시)[을를은]?\s*[^.\n]{0,10}(?:숨기|숨겨|언급하지|"
        r"알리지|말하지|밝히지)"
    ),
    r"ユーザー(?:に|には)[^。\n]{0,12}(?:知らせない|言わない|伝えない|隠)",
    r"(?:不要|别|不准)告诉用户",
    r"对用户隐瞒",
    r"\bne (?:dis|dites|le dis|previens|prevenez) (?:rien |pas )?a l'utilisateur",
    r"\bno (?:le )?(?:digas|informes|menciones)[^.\n]{0,20}?\b(?:al )?usuario",
    r"\b(?:sag|verrate|erzahle)\w*\s[^.\n]{0,15}?(?:dem |den )?(?:benutzer|nutzer)\w*\s+nichts",
)

OTHER_EXFILTRATION = _any_of(
    (
        r"(?:id_rsa|\.ssh|\.env|비밀\s*키|개인\s*키|api\s*키|토큰|자격\s*증명|비밀번호|"
        r"시크릿)[^.\n]{0,20}(?:외부|https?://|이메일|메일|서버)[^.\n]{0,20}(?:전송|보내|"
        r"업로드|유출|올려)"
    ),
    (
        r"(?:秘密鍵|トークン|認証情報|パスワード)[^。\n]{0,16}(?:外部|"
        r"https?://)[^。\n]{0,10}(?:送信|送っ|アップロード)"
    ),
    r"(?:密钥|令牌|密码|凭据)[^。\n]{0,16}(?:发送|上传|泄露)(?:到|给)",
)
