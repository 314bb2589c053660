"""What a question's cosines are compared with: sentences that have nothing to do with it.

Some models find any two sentences about software near, some any two in one language; a cosine alone
says little. By how much a text is nearer than the nearest of these says the same for every model,
language and subject. They are about what teams write down, what code does, and everyday things.
"""

SENTENCES = """
the log files are rotated every night and kept for two weeks
a new library is added only after the team has agreed on it
errors from the network are retried three times before they are shown
the settings of the editor are shared in the repository
pictures are resized in the background after they were uploaded
names of variables are written out in full
the report is generated every month and sent by mail
passwords are never written to a file
a page shows twenty rows and loads more when asked
the cache is emptied whenever the schema changes
pull requests need one review before they are merged
dates are shown in the language of the reader
every function has a short description
the server listens on a port that is given at the start
old versions are supported for one year
the build fails if a warning is printed
사용자 이름은 화면에 줄여서 표시한다
테스트가 끝나면 임시 파일을 지운다
주문이 취소되면 재고를 다시 늘린다
설정 파일은 저장소에 올리지 않는다
エラーメッセージは日本語と英語で用意する
古い注文は毎週アーカイブに移す
画像の大きさは二メガバイトまでとする
検索の結果は新しい順に並べる
用户的头像保存在对象存储里
每次发布前都要更新版本号
接口返回的时间一律使用毫秒
日志里不能出现手机号码
the family went to the mountains last summer
she learned to play the piano as a child
the recipe needs two eggs and some flour
the museum is closed on mondays
a python function that opens a file and returns its lines
the list is sorted by key before it is printed
strings are split at commas and converted to numbers
a dictionary is built from two lists
the script reads its arguments from the command line
requests are sent with a timeout and a session
the date is parsed from text and compared
a class holds the connection to the database
rows of a data frame are filtered by a condition
json is loaded from disk and checked for missing keys
""".strip().splitlines()
# So many of the nearest sentences make what is usual for a question.
NEAREST = 3
