"""What the sentence rules know of each language: to add a language, add its tables here.

Two sources meet here. `cldr_suppressions.json` holds the abbreviations that Unicode CLDR keeps
from ending a sentence (Unicode-3.0 licence, see the file); they say *that* a word is an
abbreviation. `_TABLES` says *which kind* it is, because the kind decides whether a sentence may
end there at all, and holds the other words that the rules ask for. `_VOICES` says which language
a voice speaks.

An abbreviation in lower case matches in any case; one with a capital only as it is written, so
that `Sat.` is a weekday and `sat.` is not.
"""

import enum
import functools
import json
import re
from dataclasses import dataclass
from importlib import resources

ENGLISH = "en"

_VOICES = {
    "a": "en", "b": "en", "e": "es", "f": "fr", "h": "hi", "i": "it", "j": "ja", "p": "pt",
    "z": "zh",
}  # fmt: skip
"""Languages by the first letter of a voice's name (Kokoro-82M, VOICES.md)."""


class Abbreviation(enum.Enum):
    """What a full stop after an abbreviation can mean."""

    INNER = "never an end: e.g., vs."
    TITLE = "a name follows, so no end before a word: Dr., Mr."
    LABEL = "a number or letter follows: No. 5, Fig. B"
    UNIT = "an abbreviation only after a number: 5 sec."
    OPEN = "an end when a word follows that opens sentences: Inc., Ave., Jan."
    TAIL = "an end before any capital: etc."
    CLOCK = "an end before any capital, save what goes with a time: a.m."


@dataclass(frozen=True, slots=True)
class Language:
    """What the rules know of one language.

    Attributes:
        abbreviations: The kind of each abbreviation, which is written without its last full stop.
        openers: Words, in lower case, that open sentences and are not names.
        labelled: Nouns, in lower case, that a single letter may follow: "vitamin C".
        short: Words of two letters, in lower case, that end sentences.
        after_time: Words, in lower case, that go with a clock time: "10 a.m. Tuesday".
        initials: Names of letters that stand for initials in a script without capitals.
        full_stops: Further characters that end sentences.
        has_ordinals: Whether a number with a full stop is an ordinal: "3. Mai".
        clause_break: Matches where a clause ends: a comma, a dash, a colon, or the white space
            before a conjunction.
    """

    abbreviations: dict[str, Abbreviation]
    openers: frozenset[str]
    labelled: frozenset[str]
    short: frozenset[str]
    after_time: frozenset[str]
    initials: frozenset[str]
    full_stops: str
    has_ordinals: bool
    clause_break: re.Pattern[str]


# Foreign words occur in every language, so these hold for all of them.
_EVERYWHERE = {
    "inner": "e.g eg i.e vs viz cf",
    "title": "mr mrs ms mx messrs dr drs prof",
    "open": "inc ltd corp bros jr sr St Mt Ft Ph.D Ph.Ds M.D B.A M.A B.Sc M.Sc M.B.A Ed.D",
    "tail": "etc",
    "clock": "a.m p.m",
}

PRONOUNS = frozenset({"I"})  # of one letter, and a capital also within a sentence (English)
CAPITAL_WORDS = PRONOUNS | {"A"}  # they open sentences, and are no acronyms
LETTER_WORDS = frozenset("àèéìíòóùúôÀÈÉ")  # of one letter, and no initials (Romance languages)
STREETS = frozenset({"Dr"})  # titles that also abbreviate a kind of street (English): "Oak Dr."
# An abbreviation, since nobody can pronounce it; "Hmm" is none.
VOWELLESS = re.compile(r"(?!.*(.)\1$)[B-DF-HJ-NP-TV-XZ][b-df-hj-np-tv-xz]{1,5}")

_CHINESE_PRONOUN = r"[他她它我你您谁]们?[^，。！？、\s]?"

_TABLES: dict[str, dict[str, str]] = {
    "en": {
        "inner": "p.s approx ca incl excl esp resp a.k.a w.r.t ibid nb n.b",
        "title": """profs rev hon sen sens reps gov govs pres gen gens cols lieut lt sgt cpl pvt
            capt cmdr adm supt insp det atty msgr brig maj Rep Col Fr Mt Ft Mme Mlle Sra Srta""",
        "label": """no nos fig figs p pp pg pgs vol vols ch chap chaps eq eqs ref refs art arts
            par para paras ex ext apt ste rm hwy rte tel ph app appx bk ser iss bldg ll nn""",
        "unit": """sec secs min mins hr hrs in ins ft yd yds mi oz lb lbs gal gals qt qts pt pts
            tbsp tsp tab tabs yr yrs mo mos wk wks mm cm km kg mg ml sq cu hz khz mhz gb mb kb mph
            rpm""",
        "open": """co cos bros assn assoc asst univ inst dept dist div est max avg std dev temp
            ave blvd pkwy expy esq mfg mgr mgmt intl natl govt misc cont appt acct adj adv attn diff
            exec qty prev al aka asap a.s.a.p r.s.v.p abbr bal diam doz elev eds lg med orig pkg
            pkgs sched wt ht St Rd Ln Pl Sq Ct Ter Hts Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov
            Dec Mon Tue Tues Wed Weds Thu Thur Thurs Fri Sat Sun Ala Ariz Ark Calif Colo Conn Del
            Fla Ga Ill Ind Kan Ky La Mass Md Mich Minn Miss Mo Neb Nev Okla Ore Pa Penn Tenn Tex Va
            Vt Wash Wis Wyo""",
        "openers": """a about above absolutely according actually admission after afterward
            afterwards again all almost already alright also although always am among an and another
            any anyone anything anyway apparently are aren't around as ask at be because before
            behind below besides between both breakfast bring but buy by bye call can can't
            certainly check choose clearly click come congratulations consider contact could
            couldn't customers definitely delivery despite did didn't do does doesn't don't doors
            drive due during each earlier either else enjoy enter even eventually ever every
            everyone everything except feel few finally find first follow for fortunately from fuel
            furthermore generally get give go good got great guests had hadn't half has hasn't have
            haven't he he'd he'll he's hello help hence her here here's hers hi his honestly
            hopefully hours how however i i'd i'll i'm i've if in indeed instead into is isn't it
            it'd it'll it's its itself just keep last lastly later leave let let's like likewise
            located look looks lots made make many maybe me meanwhile might mine more moreover most
            much must my naturally need needs neither never nevertheless next no nobody none nor not
            nothing now obviously of off often ok okay on once one only or originally other others
            otherwise our ours over overall parking people perhaps pick please possibly press prices
            probably put rather read remember right say second see seems select send several shall
            she she'd she'll she's shipping should shouldn't show similarly simply since so sold
            some somebody someone something sometimes somewhere soon sorry sounds start still stop
            such suddenly sure surely take talk tell than thank thanks that that's the their theirs
            them themselves then there there's therefore these they they'd they'll they're they've
            think third this those though three through thus tickets till to today together tomorrow
            tonight too traffic try turn two typically under unfortunately unless unlike until up
            upon us use usually very visit visitors wait walk want was wasn't watch we we'd we'll
            we're we've welcome well were weren't what what's whatever when when's whenever where
            where's wherever whether which while who who's whoever whom whose why will with within
            without won't would wouldn't write yes yesterday yet you you'd you'll you're you've your
            yours""",
        "labelled": """vitamin vitamins plan option options grade class type group team point
            section gate terminal hepatitis exhibit appendix part phase row seat level zone unit
            building platform schedule category drive column block choice answer variant version
            size model line route wing hall studio bank lot series influenza factor strep product
            item side user person act bay chapter episode exit figure floor lane letter room scene
            suite table track volume war""",
        "short": """ad ah am an as at be by do eh go he hi if in is it me my no of oh ok on or ox
            so to tv uh um up us we ya ye yo""",
        "after_time": """eastern pacific central mountain atlantic greenwich gmt utc est edt cst
            cdt mst mdt pst pdt et ct mt pt bst cet ist jst daylight standard local monday
            tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs
            fri sat sun january february march april june july august september october november
            december jan feb mar apr jun jul aug sep sept oct nov dec""",
        "conjunctions": "and but or so because while although though since unless whereas which",
    },
    "es": {
        "inner": "p.ej ej v.g v.gr aprox vid íd ibíd",
        "title": """sr sra srta sres sras srs dña dra dras ing lic lcdo lcda profa arq abg pbro
            mons sto sta gral cnel cap tte sgto excmo excma ilmo ilma rvdo hno hna hnos mtro
            mtra pdte lda ldo D Dª""",
        "label": """núm núms nro n nº pág págs párr p pp fig figs cap caps art arts vol tel tfno ext
            apdo""",
        "unit": "seg min hrs h hab km kg cm mm ml gr g lb pulg",
        "open": """ud uds vd vds vda avda av ctra dpto dptos depto admón cía gob máx mín izq dcha
            a.C d.C a.n.e EE UU EE.UU JJ OO JJ.OO FF AA FF.AA RR.HH S.A S.L S.L.U C.V p.d ene
            feb abr ago sept oct nov dic mié jue vie sáb""",
        "openers": """a además ahora al algo alguien algunas algunos allí ante antes apenas aquel
            aquella aquí así aun aunque ayer bajo bien cada casi como con cuando cuál cuánto
            cómo de del desde después donde dónde durante e el ella ellas ellos en encima
            entonces entre era eran es esa esas ese eso esos esta estaba estamos estas este esto
            estos está están fue fueron gracias ha hace hacia han hasta hay he hoy igual incluso
            la las le les lo los luego mañana me mi mientras mis mucho muchos muy más nada nadie
            ni ningún no nos nosotros nuestra nuestro nunca o otra otro otros para parece pero
            poco por porque primero pues puede pueden que quien quién qué quizás se según ser
            será si siempre sin sobre solo son su sus sí sólo también tampoco tan tanto te
            tenemos tengo tiene tienen toda todas todo todos tras tu tus tú un una unas uno unos
            usted ustedes va vamos varios ven vive y ya yo él""",
        "labelled": """vitamina plan grupo tipo clase sección opción letra punto parte hepatitis
            bloque nivel puerta fase talla""",
        "short": """al da dé di eh el en es fe ha he id ir la le lo me mi ni no os sé se si sí su
            te ti tu tú un va ve vi ya yo""",
        "conjunctions": "y e pero o porque aunque mientras cuando sino pues",
    },
    "fr": {
        "inner": "p.ex ex c.-à-d càd env av ap apr",
        "title": "M MM Mme Mmes Mlle Mlles Me Mgr pr vve gal cdt cne St Ste Sts Stes",
        "label": "n no nos nº p pp fig figs chap vol art tél ext éd al alin tabl ann",
        "unit": "sec min h km kg cm mm ml g hab",
        "open": """boul bd bld imm max min adr bât cie sté éts dép rég dir J.-C S.A S.A.R.L janv
            févr avr juil sept oct nov déc lun mer jeu ven sam dim""",
        "openers": """a ai ainsi alors après as au aucun aujourd'hui aussi autre autres aux avant
            avec avez avoir c ce cela celle celui cependant ces cet cette ceux chaque chez comme
            comment d dans de depuis derrière des deux devant donc dont du elle elles en encore
            enfin ensuite entre est et eux hier ici il ils j je jamais jusqu l la le les leur
            leurs lors lorsque lui là m ma mais malgré me merci mes moi mon même n ne ni non nos
            notre nous on ou où oui par parce parfois pas pendant peu peut peut-être plus
            plusieurs pour pourquoi pourtant près puis puisque qu quand quant que quel quelle
            quelles quelque quelques quels qui quoi s sa sans se selon ses si son sont sous
            souvent sur surtout t ta te tes toi ton toujours tous tout toute toutes trop très tu
            un une vers voici voilà vos votre vous y à ça étant était être""",
        "labelled": """vitamine plan groupe type classe section option lettre point partie hépatite
            porte niveau zone""",
        "short": """ah as au ce ci da de du dû eh en es et eu fa fi ha hé il la là le lu me mi mu
            ni né nu oh on os ou où pu ri sa se si su sû ta te tu un us va vu ça""",
        "conjunctions": "et mais ou car donc quand lorsque puisque tandis",
    },
    "it": {
        "inner": "p.es es cfr ca v vd",
        "title": """sig sig.ra sig.na sigg sigg.ri dott dott.ssa dottssa prof.ssa ing avv arch geom
            rag sen mons gen cap magg comm cav p.i on""",
        "label": "n nn nr num att pag pagg p pp fig figg vol art artt tel tav tab int sez all",
        "unit": "sec min km kg cm mm ml g hg q",
        "open": """a.C d.C S.p.A S.r.l s.p.a s.r.l s.a.s s.n.c v.le p.za p.zza c.so max genn febbr
            lug ago sett ott nov dic lun mer gio ven sab dom""",
        "tail": "ecc",
        "openers": """a abbiamo adesso ai al alcuni alla alle allora altri anche ancora anzi appena
            aveva avete bene c che chi ci ciao ciò come con cosa così cui d da dai dal dalla
            davvero degli dei del della delle dello di dopo dove dunque durante e ecco ed entro
            era erano fino forse fra fu già gli grazie ha hai hanno ho i il in infatti infine
            insieme intanto invece io l la le lei li lo loro lui ma mai me meglio mentre mi mia mio
            molti molto ne nei nel nella nelle nemmeno nessuno niente noi non nonostante nostra
            nostro nulla o oggi ogni ora oltre ormai per perché perciò però più poi poiché prego
            prima proprio pure qua qual quale qualche qualcuno quando quanto quella quelle
            quelli quello questa queste questi questo qui quindi s se sembra sempre senza si sia
            siamo siete sono sopra sotto sta stanno stato su sua sul sulla suo tanto ti tra
            troppo tu tutta tutte tutti tutto un una uno va vi vicino voi è""",
        "labelled": """vitamina piano gruppo tipo classe sezione opzione lettera punto parte
            epatite livello fase""",
        "short": """ah al bù ce ci da dà di dì do eh fa fu già ha ho in io là la le li lì lo ma me
            mi né no oh po qua qui re sa se sé si sì so sta su te tè ti tu un va ve vi""",
        "conjunctions": "e ed ma o perché mentre quando quindi però",
    },
    "pt": {
        "inner": "p.ex ex aprox i.é v.g",
        "title": """sr sra srta srs sras dra dras profa eng engª arq exmo exma ilmo ilma gen cel
            cap ten maj sgt dep sen gov mons D Pe Fr Sto Sta Des""",
        "label": "n no nº nr pág págs p pp fig figs vol art arts tel ext ref",
        "unit": "seg min h km kg cm mm ml g hab",
        "open": """av apto apt ltda cia máx mín S.A a.C d.C E.U.A depto dpto adm jan fev abr mai
            jun jul ago nov dez""",
        "openers": """a agora ainda além algo alguns ali antes ao aos apenas apesar aquela aquele
            aqui as assim até atualmente bem cada com como conforme contudo da daí das de depois
            desde dessa desta do dos durante e ela elas ele eles em embora enquanto entre
            entretanto era eram essa essas esse esses esta estamos estas estava este estes está
            estão eu foi foram graças havia hoje há isso isto já la lhe logo mais mas me mesmo
            meu minha muitas muito muitos na nada nas nem nenhum nessa nesta ninguém no nos
            nossa nosso nunca não nós o obrigada obrigado onde ontem os ou outra outro outros
            para pela pelo pois por porque porém pouco primeiro qual qualquer quando quanto que
            quem quê se segundo seja sem sempre será seu seus sim sobre sou sua suas são só tal
            também te tem temos tenho toda todas todo todos tudo um uma umas uns vai vamos você
            vocês à às é""",
        "labelled": """vitamina plano grupo tipo classe seção opção letra ponto parte hepatite
            nível fase""",
        "short": """aí ao cá da dá dê de do ei em eu fé há ir já lá lê ma me mim na nó nós oi os ou
            pé pó ré se sê si só te tu um vá vê vi vó""",
        "conjunctions": "e mas ou porque enquanto quando embora pois",
    },
    "hi": {
        "title": "डॉ डा श्री श्रीमती सुश्री प्रो पं कु मो स्व ले",
        "label": "सं क्र पृ नं",
        "unit": "मि से घं कि.मी कि.ग्रा से.मी मि.मी ग्रा ली",
        "open": "रु ई.पू उ.प्र म.प्र",
        "initials": """ए बी सी डी ई एफ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू
            एक्स वाई ज़ेड""",
        "conjunctions": "और लेकिन या क्योंकि तो जबकि मगर",
    },
    "de": {
        "inner": "z.B d.h u.a i.d.R bzw vgl evtl ggf inkl exkl zzgl sog bspw",
        "title": "hr hrn frl dipl ing mag univ.-prof Fr",
        "label": "nr nrn s abb abs art bd kap tab tel zif",
        "unit": "sek min std km kg cm mm ml mio mrd tsd",
        "open": """str abt ag gmbh co geb gest verh jr sen max v.Chr n.Chr jh jhd Jan Feb Apr Aug
            Sept Okt Nov Dez Mo Di Mi Do Sa St""",
        "tail": "usw u.s.w",
        "openers": """aber alle allerdings als also am an auch auf aus außerdem bei beide bis bitte
            da dabei dafür damit danach dann darum das dass dein deine dem den der des deshalb
            die dies diese dieser dieses doch dort du durch ein eine einem einen einer einige er
            erst es euer falls für gegen gerade genau hier ich ihr ihre im in ist ja jede jeder
            jedes jedoch jetzt kann kein keine können man manche mein meine mit nach nachdem
            natürlich nein nicht nichts niemand noch nun nur ob oder ohne schon sehr sein seine
            seit sich sie sind so sobald sogar solche somit sondern später trotz um und uns
            unser unter viele vielleicht vom von vor wann war waren warum was weil welche wenn
            wer werden wie wieder wir wird wo während zu zuerst zum zur zwar zwischen über""",
        "labelled": "vitamin plan gruppe typ klasse abschnitt option punkt teil hepatitis phase",
        "short": "ab am an da du er es im in ja je ob so um wo zu",
        "conjunctions": "und aber oder denn weil während obwohl sondern",
        "ordinals": "yes",
    },
    "ru": {
        "inner": "т.е напр см ср",
        "title": "г-н г-жа проф акад д-р им св",
        "label": "стр с рис табл гл п пп",
        "unit": "руб коп тыс млн млрд",
        "open": "г гг в вв ул кв обл р н.э т.д т.п др пр",
        "openers": """а без более был была были было в вам вас весь во вот вс все всё вы где да для
            до его ее её ей если есть еще ещё же за здесь и из или им их к как когда кто ли мне
            мы на над нам не нет ни но о об он она они оно от по под потом при с сегодня сейчас
            со так там то тогда тоже только ты у уже хотя чем что чтобы это этот я""",
        "conjunctions": "и а но или потому пока когда",
    },
    "ja": {  # a particle, a copula, or a pronoun with a verb of saying
        "after_quotation": r"と(?![てにこきり])|って|など|を|の(?!ち)|が|は(?![いじ])|に(?!ほ)"
        r"|で(?![もはす])|だ(?![がけかっ])|です(?![がか])|彼女?は[^，。！？、\s]{0,3}?[言聞答叫]",
        "after_quotation_partial": r"[とのはにでっなだ]|です|彼女?(?:は[^，。！？、\s]{0,3})?",
    },
    "zh": {  # a pronoun with a verb of saying, or that verb alone
        "after_quotation": rf"(?:{_CHINESE_PRONOUN})?[说說道问問喊叫答](?!道?[:：])",
        "after_quotation_partial": rf"{_CHINESE_PRONOUN}"
        rf"|(?:{_CHINESE_PRONOUN})?[说說道问問喊叫答]道?",
    },
    "el": {"full_stops": ";\u037e"},
}  # fmt: skip


def _any_language(name: str) -> re.Pattern[str]:
    return re.compile("|".join(table[name] for table in _TABLES.values() if name in table))


# What shows that a quotation ends before its sentence does, and what may still grow into that.
AFTER_QUOTATION = _any_language("after_quotation")
AFTER_QUOTATION_PARTIAL = _any_language("after_quotation_partial")


def language_of_voice(voice: str) -> str:
    """Return the ISO 639-1 code of the language that `voice` speaks; English if unknown."""
    return _VOICES.get(voice[:1], ENGLISH)


@functools.cache
def language_rules(code: str) -> Language:
    """Return what is known of the language `code`, an ISO 639-1 code.

    A language without a table gets the English one. A script without capitals gets it as well,
    beside its own, since English names and replies are the foreign text that an agent meets most.
    """
    own = _TABLES.get(code, {})
    cased = own if "openers" in own else _TABLES[ENGLISH]
    abbreviations: dict[str, Abbreviation] = {}
    for table in (_EVERYWHERE, cased, own):
        for kind in Abbreviation:
            for word in table.get(kind.name.lower(), "").split():
                abbreviations[word] = kind
    for word in _suppressions().get(code, ()):
        if word.lower() not in abbreviations:
            abbreviations.setdefault(word, Abbreviation.OPEN)

    def words(name: str) -> frozenset[str]:
        return frozenset((own.get(name) or cased.get(name) or "").split())

    return Language(
        abbreviations=abbreviations,
        openers=words("openers"),
        labelled=words("labelled"),
        short=words("short"),
        after_time=words("after_time"),
        initials=words("initials"),
        full_stops=own.get("full_stops", ""),
        has_ordinals="ordinals" in own,
        clause_break=re.compile(
            r"[,;:—–](?=\s)|(?<=\s)-(?=\s)|[，、；：]"
            + "".join(rf"|\s(?={word}\s)" for word in sorted(words("conjunctions")))
        ),
    )


@functools.cache
def _suppressions() -> dict[str, list[str]]:
    """The abbreviations from CLDR, without their last full stop, by language."""
    source = resources.files(__package__).joinpath("cldr_suppressions.json")
    data: dict[str, dict[str, list[str]]] = json.loads(source.read_text(encoding="utf-8"))
    return data["abbreviations"]
