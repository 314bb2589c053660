"""How common words are in writing about software: for telling coincidence from relevance.

Stems by how many words of text go by, on average, from one to the next: two to the power of the
key. Counted over the docstrings of Python's standard library and of common packages, joined with
the commonest words of everyday English. Words that are not here are rarer than all of these.
"""

_BY_POWER = {
    8: """
        default function model not return use valu""",
    9: """
        abl add advic after again air all alreadi alway ani appear april area arg around array
        art ask attend august back bad base befor begin believ benefit best better between big
        birthday bodi book breakfast bring build busi buy call camera car case celebr challeng
        chang check child citi class come communiti compani comput consid continu cook countri
        creat current custom cut danc data day decemb decid delet die differ dinner discuss
        door draw drink drive dure each earli eat educ end enjoy even everi exampl exercis
        expect experi explain eye face fact fall famili father favorit februari feel few file
        film financi find first fli follow food forc friday friend futur game generat get gift
        girl give given go goal good govern graph great group grow guy hand happen head health
        help high histori hold holiday home hope hour hous idea import includ inform input int
        interest internat involv issu januari job juli june keep kill kind know larg last law
        lead learn leav let level life like line list littl live long look lose lot love lunch
        main make man mani march meet member mental mention method minut modul moment monday
        money month more morn most mother move movi much music name nation natur need never
        new next night no node none novel novemb now number object octob offer offic often old
        one onli open opinion option other output own paint paramet parent part parti pass pay
        peopl person phone photo pictur place plan play player point possibl power practic
        presid problem program project provid public pull put python question rais reach read
        reason recent remain rememb remov report requir research restaur result right room run
        same saturday say school see seem sell send septemb serv servic set shape share show
        side sing sit size sleep small social some sometim song speak spend sport stand start
        state stay still stop store stori string student studi suggest sunday support system
        take talk teach teacher team technic tell test thing think thursday time today togeth
        token too topic travel tri trip true tuesday turn type understand updat user usual
        veri visit wait walk want war watch water way wednesday week weekend well win within
        without woman word work world write year yesterday young""",
    10: """
        algorithm argument attribut auto batch bool cach code config configur contain convert
        defin dict eg element error fals featur float func https id imag implement indic initi
        instanc iter key length map matrix may must note num oper order path posit process
        refer repres sampl sequenc specifi str text torchtensor tupl two weight whether""",
    11: """
        addit allow api appli arraylik audio avail backend batchsiz block both bound byte
        calcul callabl column com compil compon condit connect construct context copi
        correspond dataset depend detail determin devic dictionari dim dimens direct directori
        distribut dtype edg either embed entri equal estim evalu except exist express field
        form format forward found frame frompretrain handl hidden http ie index instead integ
        kernel kwarg label layer librari linear load local log loss mask match math max
        maximum mean memori metadata mode multipl ndarray network nn non normal op optim org
        origin otherwis out over packag pad pair param pars patch per perform polynomi predict
        pretrain print processor quantiz queri random rang rank real relat replac request root
        scale score select self singl skip sourc spars special specif step stream style sum
        symbol target train under up url util valid variabl vector version width wrap zero""",
    12: """
        abc abov accept access across activ actual along alpha anoth approxim assign assum
        attr automat autoprocessor autotoken avoid axi backward becaus behavior below binari
        boolean buffer cannot causal channel charact chunk classif client close co coeffici
        collect combin command common compar compat complet complex conditionalgener consist
        constant constraint content control coordin core correct count cpu cross decor def
        definit degre deprec deriv describ detect disabl dispatch distanc doc document domain
        dynam empti en enabl ensur environ equat equival etc event exact execut explicit
        export expr extens extra extract factor fail filenam filter final fit fix flag fn
        forcondit free full fx general github global gradient grid hash header height helper
        here hf hiddens hiddenst hook host html hub identifi ignor infer info init inputid
        instal integr interfac internal interpol interval invers io item json keyword languag
        layout least left len lexer limit link lm locat longtensor loop lower manag matric
        messag meth min minimum modifi multi namespac nativ negat nest networkx nfeatur norm
        nsampl numer nx offset onc overrid partit pattern pi plot poli pool pre precis prefix
        prepar probabl produc product prompt pt pygment raw record recurs reduc ref regist
        regular render represent resolv resourc respect respons returntensor row rule runtim
        save scalar script search second section segment sentenc separ sequencelength seri
        server shard signatur similar simpl sin sinc solv sort space spec split sqrt squar
        stack standard strategi structur sub subclass sym sympyabc tabl tag task templat term
        thread through top torchlongtensor total trace tree until upper usag valueerror via
        video vision warn while window wrapper yield""",
    13: """
        ab absolut abstract accord action adapt address against algebra align alloc altern
        annot append applic appropri arbitrari assert associ assumpt async attempt
        attentionmask author autograd automodel autotokenizerfrompretrain averag bar basic
        becom beta bias bin bit blob boundari box break broadcast built builtin bytesio
        callback caller cancel candid captur caus causallm center chain checkpoint choic
        classifi clear clip cls cluster codegen col color comparison compress concaten consol
        constructor consum conv converg convers convolut cos cost covari curv cycl debug
        decomposit delta dens depth descript descriptor desir di diagon differenti digraph
        dimension dir discret display docstr doctest dot download ds dtensor due duplic dynamo
        effect effici els emb emit endpoint entir env eq exit exp expand expert extend extern
        extractor factori fake fallback fast faster fill finit flatten flow foo forcaus fp
        frac fraction frequenc fsdp fuse gamma gather gaussian generic glossari googl grad
        greater guarante guard guid handler higher highlight hint howev httpx huggingfacehub
        ident idx imageprocessor improv increas independ inductor inf inherit inner inplac
        insert insid instanti instruct intermedi interpret invalid invok join joint known
        lambda layernorm less lib linalg lock logic lookup low made mark measur mechan merg
        mesh meta metric microsoft might minim miss mix mixin mod moe multipli mutat nan
        narwhal necessari neighbor net nparray npndarray null obj observ obtain occur os
        outsid overlap pack page paper parallel parser partial particular pep period permut
        physic pil pipelin pixel placehold placement platform pleas port post potenti pp
        precomput prefer present preserv previous profil progress propag proper properti
        protocol proxi qq qwen randomst rate rather ratio ration receiv recommend reconstruct
        reduct region regress releas repeat repo res reshap residu resiz resolut retriev reus
        revers rfc ring rng rotat round routin safe satisfi schedul schema scheme scope seed
        semant sentencetransform seq seqlen serial sever shortest sign signal simpli simplifi
        slice socket solut solver span spatial specialtoken speech speed spline src stabl
        stage stat statedict static statist status storag strict stride subgraph submodul
        subset success suppli symmetr syntax sys taken termin textconfig therefor three
        threshold thus tile timeout tool traceback track treat triton typic unicod uniform
        union uniqu unit unless var various versionchang view visionconfig visual vocab
        vocabulari wiki wikipedia worker written www xdoctest zip zz""",
    14: """
        acceler accumul accuraci act adjac adjust advanc affect affin agent aggreg ai al alia
        allclos among amount analysi anchor andor angl answer anyth ao aot approach arang
        architectur archiv aspect asr asynchron aten atom attach augment auth authent autoimag
        autoimageprocessor autoprocessorfrompretrain autotun awar ax axe backbon background
        basi batchdecod belong benchmark bind bipartit bottom branch bucket canon care carri
        cast cat cell central certain char chat choos chosen clean cleanup codec coef
        combinator comment commit communic compos concret confid contigu contract conveni
        convent coroutin cosin cp creation crop crossattent csr cu cute cutedsl cutlass
        dataclass datafram datapip date datetim de decis declar decompos decreas deep delimit
        denot densiti dequant design destin determinist detr dev develop deviat df diag diff
        digit disk dist distutil divid divis do doi doubl down drop dsl dual dummi dump dx
        eager eigenvalu elementwis enter entiti enum ep escap euclidean eval exc exclud
        experiment exponenti expos facebook failur featureextractor fetch fft filelik
        filesystem fine finish flash flat fold folder former formula fortran fourier fromnat
        fulli further gate gemm gemma gen git glm gm graphmodul ground half hello hermit
        hessian heurist highest hug huggingfacehubutil images immedi implicit increment indent
        individu infinit inlin inspect intend interact intersect introduc ir jacobian jit jpg
        kept keyvalu kv larger largest lasthidden lasthiddenst latent later launch lazi leaf
        legaci liter loaddataset loader logger longer lowest ls lu machin maintain major
        manual marker mathemat matplotlib matrixsymbol maxim maxlength md mel mini mlp mm
        modelfor modelgener modif modular mp mpmath ms mul multigraph multimod mutabl na
        nclass ncompon nd ndim nearest newlin nnmodul nois nonlinear nonneg nonzero noth
        notimpl nparang ns numchannel numfram numpatch nw nwfromnat oauth ocr odd ode off omit
        onnx oo opt orthogon outer overhead overload overridden pairwis panda parametr
        password past patchsiz pdf pe persist phi pickl pip pipe pixelvalu plain plane plt
        plugin plus pointer polar pop popul pos postprocess predic preprocess pretti prevent
        prime primit prior privat pure purpos push pydant pytre qconfig quadrat quantum queue
        quot radius randn readabl redirect referencefram regex registri regressor relev reli
        relu remot replic repositori repr reset rest restor restrict retri revis rewrit rich
        rms rmsnorm ro rope rout router scan scatter selfattent sent sequenti session setup
        shift short shown singular skipspeci skipspecialtoken slide slow smaller smallest
        smooth soft softmax someth ssl statement std strip strong struct subject subsequ
        substitut suitabl summari sure swap synchron tempor temporari textmodel th theta
        though tie timestamp tokenid tokentyp tol toler topk torchcompil torchdevic torchrandn
        tp tracker trail translat transpos travers triangl triangular trigger trio truncat
        trust tune txt typeerror unchang undefin undirect unix unknown unlik unpack unus uri
        urllib val vari varianc variant vec verifi vertic vi visionmodel vit vocabs wav
        waveform web wheel whitespac whole wise xml xp yet""",
}
# Pairs of characters that are endings, particles or words of questions.
_PAIRS = """
    에서 으로 하지 있다 있는 경우 서는 니다 는가 나요 무엇 어떤 어떻 떻게 하는 해야 에는 한다 되는
    합니 습니 인가 까지 부터 하고 이다 였다 었다 는데 지만 대한 대해 위해 통해 따라 때문 문에 그리
    리고 이런 그런 저는 우리 것을 것은 것이 수있 없는 된다 주세 세요 해줘 어요 이유 방법 입니 은무
    무슨 누구 언제 어디 얼마 가요 는지 라고 이라 에게 하여 하였 했다 했는 관련 です ます した して
    いる ある から まで この その あの これ それ ため など よう とき もの こと ない った れた れる
    なる でき どこ いつ だれ なぜ どう には では とは のは のか のよ たの すか 何で 何が 何の か？
    って られ いう 什么 怎么 为什 如何 哪些 哪个 是什 么时 时候 多少 可以 我们 他们 这个 那个 的是
    是在 一个 没有 因为 所以 以及 的人 了什 是谁
"""

RATES: dict[str, float] = {
    word: 2.0**-power for power, words in _BY_POWER.items() for word in words.split()
}
RATES.update(dict.fromkeys(_PAIRS.split(), 1 / 256))
