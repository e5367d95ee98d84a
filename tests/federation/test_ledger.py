"""The ledger's verbs, each by hand."""

import pytest

from fedrepro.federation.ledger import COLUMNS, Ledger


def counted(ledger) -> dict:
    return {name: count for name, count in ledger.row().items() if count}


def test_a_new_ledger_is_empty_and_has_every_column():
    assert counted(Ledger()) == {}
    assert tuple(Ledger().row()) == COLUMNS


def test_down_is_an_exchange_with_a_message_for_each_client():
    ledger = Ledger()
    ledger.down(12, 3)
    ledger.down(8, 2)
    assert counted(ledger) == {"floats_down": 20, "messages": 5, "exchanges": 2}


def test_up_is_an_answer_and_no_exchange():
    ledger = Ledger()
    ledger.up(12, 3, vectors=1.0)
    ledger.up(4, 0, vectors=0.5)  # in the message that is under way
    assert counted(ledger) == {"floats_up": 16, "messages": 3, "vectors": 1.5}


def test_work_adds_by_name_and_knows_no_other():
    ledger = Ledger()
    ledger.work(gradients=3, samples=40)
    ledger.work(gradients=2)
    assert counted(ledger) == {"gradients": 5, "samples": 40}
    with pytest.raises(AttributeError):
        ledger.work(gradient=1)


def test_encrypted_scalars_are_part_of_the_floats_and_the_busiest_client_sets_the_pace():
    ledger = Ledger()
    ledger.encrypt([5, 2, 9])
    ledger.encrypt([1, 4])
    assert counted(ledger) == {
        "floats_up": 21, "messages": 5, "encryptions": 21, "slowest_encryptions": 13, "encryption_steps": 2,
    }  # fmt: skip
    ledger = Ledger()
    ledger.decrypt([5, 2, 9])
    assert counted(ledger) == {
        "floats_down": 16, "messages": 3, "exchanges": 1,
        "decryptions": 16, "slowest_decryptions": 9, "decryption_steps": 1,
    }  # fmt: skip


def test_nobody_to_encrypt_for_is_a_step_without_scalars():
    ledger = Ledger()
    ledger.encrypt([])
    assert counted(ledger) == {"encryption_steps": 1}
