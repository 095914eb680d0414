"""Choose by pairs: "this model or that?", in people's words, and the setting that the answers lead to."""

import logging
import re
from dataclasses import dataclass, field
from functools import partial

import streamlit as st

from commod.dashboard.pages.decide.models import offer_setting
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.settings import Settings, in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.methods import Form, form_of
from commod.dashboard.views.pairs import Offer, bullets, in_peoples_words, offer_of
from commod.dashboard.views.room import say_aloud
from commod.decisions import ANSWERS, PairAnswer, Preference, Requirements
from commod.decisions.pairs import FEWEST, MOST, MOST_ASKED
from commod.experiments.scene import SceneKey
from commod.uploads.limits import count_of

Problem = tuple[SceneKey, str]
# Fewer answers than this lead nowhere.
TOO_FEW = 3
# In a link: which models were asked about, and a letter for each answer.
_WRITTEN = re.compile(rf"([0-9a-f]{{6}})([{''.join(ANSWERS)}]{{1,{MOST_ASKED}}})")


@dataclass
class Asking:
    """The questions about one scene and criterion. Nothing of the data is in it: they may be forgotten."""

    kept: str = ""  # of the link, until the models are there
    digest: str = ""  # of the models
    answers: list[PairAnswer] = field(default_factory=list)
    lost: bool = False  # whether the answers so far were about other models

    @property
    def text(self) -> str:
        """For the link."""
        return self.digest + "".join(answer.said for answer in self.answers) if self.answers else self.kept


def _from_link() -> dict[Problem, Asking]:
    kept = session.state().carried.get("pairs", "")
    return {session.current().problem(): Asking(kept)} if _WRITTEN.fullmatch(kept) else {}


# What this session was asked, by scene and criterion.
state = PageState("pairs", _from_link)


def show(required: Requirements) -> None:
    """The section, from top to bottom; the models keep to the features and the direction that are required."""
    st.header("Choose by pairs", anchor="pairs")
    settings = session.current()
    asking = state().get(settings.problem())
    session.carry(pairs="" if asking is None else asking.text)
    if asking is None:
        _invite(settings)
        return
    offer = _offer(settings, asking, form_of(settings, required))
    if offer is None:
        return
    session.carry(pairs=asking.text)
    if asking.lost:
        st.warning("The answers so far were about other models than there are now: they are left out.")
    pair = offer.interview.next_question(asking.answers)
    if pair is not None:
        _ask(asking, offer, pair)
    elif len(offer.interview.models) < 2:
        st.info("One model beats all others here, so there is nothing to choose between.", icon=":material/info:")
    else:
        _tell(asking, offer)


def _invite(settings: Settings) -> None:
    st.markdown(
        f"Not sure what to require? Of {FEWEST} to {MOST} pairs of models, say which one you would rather answer for. "
        "Your answers lead to a setting."
    )
    st.button("Begin", icon=":material/compare_arrows:", key="pairs_begin", on_click=_begin, args=(settings,))


def _begin(settings: Settings) -> None:
    state()[settings.problem()] = Asking()


def _offer(settings: Settings, asking: Asking, form: Form) -> Offer | None:
    """The models, and with them the answers of a link."""
    try:
        offer = offer_of(settings, st.empty(), form)
    except ValueError as error:
        st.error(f"There are no models to choose from: {escape_markdown(error)}", icon=":material/error:")
        return None
    except Exception:
        logging.getLogger(__name__).exception("The models to choose from could not be trained.")
        st.error("The models to choose from could not be trained, for a reason of ours.", icon=":material/error:")
        return None
    found = _WRITTEN.fullmatch(asking.text)  # of a link, or of this session
    asking.digest = offer.interview.digest
    if found and found[1] != asking.digest:
        asking.lost, asking.answers = True, []
    elif found and asking.kept:
        asking.answers = offer.interview.replay(found[2])
    asking.kept = ""
    return offer


# ---- a question ----


def _ask(asking: Asking, offer: Offer, pair: tuple[int, int]) -> None:
    """Two models side by side, or one above the other on a phone, and what may be said of them."""
    skipped = sum(answer.said == "s" for answer in asking.answers)
    number = len(asking.answers) - skipped + 1
    apart = f" ({skipped} skipped)" if skipped else ""
    st.markdown(f"**Question {number}** of {FEWEST} to {MOST}{apart}: which one would you rather answer for?")
    sentences = [in_peoples_words(offer.scene, offer.decisions(place)) for place in pair]
    for letter, texts, cell in zip("ab", sentences, st.columns(2, gap="small"), strict=True):
        with cell.container(border=True, height="stretch", vertical_alignment="distribute"):
            st.markdown(f"**Model {letter.upper()}**\n\n{bullets(texts)}")
            # The keys stay the same from one question to the next, and with them the focus of the keyboard.
            _answer(f"I choose {letter.upper()}", letter, asking, pair, width="stretch")
    with st.container(horizontal=True, gap="small"):
        _answer("No difference to me", "n", asking, pair)
        _answer("Skip", "s", asking, pair)
        _start_again(offer, type="tertiary")
    say_aloud(f"Question {number}.")


def _answer(label: str, letter: str, asking: Asking, pair: tuple[int, int], **how: str) -> None:
    def say() -> None:
        asking.answers.append(PairAnswer(*pair, letter))  # type: ignore[arg-type]
        asking.lost = False

    st.button(label, key=f"pairs_{letter}", on_click=say, **how)  # type: ignore[arg-type]


def _start_again(offer: Offer, **how: str) -> None:
    st.button(
        "Start again",
        icon=":material/restart_alt:",
        key="pairs_again",
        on_click=partial(_begin, offer.settings),
        **how,  # type: ignore[arg-type]
    )


# ---- where the answers lead ----


def _tell(asking: Asking, offer: Offer) -> None:
    """The setting, how sure it is, and how consistent the answers were."""
    found = offer.interview.preference(asking.answers)
    if found.answered < TOO_FEW:
        st.info(f"Too few questions were answered to tell: {found.answered} of {len(asking.answers)}.")
        _start_again(offer)
        return
    there, text = offer.there(found.place), "You prefer the old model, unchanged"
    if (offer.decisions(found.place) != offer.scene.decisions_test).any():
        text = f"Your answers lead to {in_words(there)}"
    with st.container(border=True):
        st.markdown(f"**{text}.**")
        st.markdown(bullets(in_peoples_words(offer.scene, offer.decisions(found.place))))
        st.markdown(certainty_in_words(found))
        with st.container(horizontal=True, gap="small"):
            _take(there)
            _start_again(offer)
    say_aloud(f"{text}.")


def _take(there: Settings) -> None:
    if there.model() == session.current().model():
        st.button("This is the setting of the sliders", disabled=True, key="pairs_take", icon=":material/check:")
        return
    there = there.looked_at_as(session.current())
    offer_setting(st, "Take this setting", there, type="primary", key="pairs_take")


def certainty_in_words(found: Preference) -> str:
    """How sure the answers are of the model, and how consistent they were: if they are not, nothing is sure."""
    if not found.choices:
        return "**This is a guess:** you saw no difference in any pair."
    text = "**Your answers do not clearly fit together, so take this setting with care.**"
    if found.fits:
        text = (
            f"**Your answers fit together, and are {found.sure:.0%} sure** that this is the best for you among "
            "COMMOD's models, or nearly: of the distance between your best and your worst model it then loses at most "
            "a twentieth."
        )
    text += f" One preference explains {found.explained} of {count_of(found.choices, 'choice')} between A and B."
    if found.repeated:
        text += f" Asked again with the sides swapped, you gave the same answer {found.same} of {found.repeated} times."
    return text
