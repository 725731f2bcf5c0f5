"""Made files, as UCI and people write them: right, said, or refused with a remedy that works; never silently wrong."""

import made_books
import made_damage
import made_uci
import pytest
from verdicts import GOOD, verdict


@pytest.mark.parametrize("name", made_uci.MAKERS)
def test_a_file_in_the_form_of_uci_is_read_right(name):
    word, why = verdict(made_uci.made(name))
    assert word in GOOD, f"{word}: {why}"


@pytest.mark.parametrize("name", made_damage.MAKERS)
def test_a_damaged_table_is_read_right_or_said_or_refused(name):
    word, why = verdict(made_damage.MAKERS[name])
    assert word in GOOD, f"{word}: {why}"


@pytest.mark.parametrize("name", made_books.MAKERS)
def test_a_workbook_or_a_file_of_another_program_is_read_right_or_said_or_refused(name):
    word, why = verdict(made_books.MAKERS[name])
    assert word in GOOD, f"{word}: {why}"
