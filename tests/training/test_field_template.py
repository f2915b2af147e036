import pytest
import torch

from gslopes.core.geometry import LUMA, OFFSET
from training.field_template import (
    BROAD,
    CEILING,
    GLOW,
    PARTS,
    SLOPE,
    TemplateEdits,
    TemplateUse,
    blurred,
)

LIGHTNESS = 0.2
TONE = TemplateUse(LIGHTNESS)

SIDE = 32
FACE = torch.ones(SIDE, SIDE)
PLAIN = torch.zeros(3, SIDE, SIDE)  # a template without form


def template_edits(chips, template, face, distances, use=None):
    return TemplateEdits(chips, template, face, use)(distances)


def flat(level: float, tint: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> torch.Tensor:
    return torch.tensor(tint)[None, :, None, None] * torch.full((1, 3, SIDE, SIDE), level)


def edits(
    chips: torch.Tensor,
    *distances: float,
    template: torch.Tensor = PLAIN,
    lightness: float = LIGHTNESS,
) -> torch.Tensor:
    return template_edits(chips, template, FACE, torch.tensor([distances]), TemplateUse(lightness))[
        0
    ]


def test_the_log_odds_of_luminance_move_by_so_much_a_unit():
    moved = (edits(flat(0.3), 1.0)[0, :, 16, 16] * torch.tensor(LUMA)).sum()
    level = torch.expm1(moved) * (0.3 * 255 + OFFSET) / 255 + 0.3
    odds = (level / (CEILING - level)) / (0.3 / (CEILING - 0.3))
    assert odds.log().item() == pytest.approx(LIGHTNESS, rel=1e-3)


def test_where_skin_darkens_light_and_shade_darken_more_alike_than_in_log_odds_and_highlights_stay():
    chips = flat(0.25)
    chips[:, :, :, 11:21], chips[:, :, :, 21:] = 0.7, 1.0
    luma = torch.tensor(LUMA)[:, None, None]
    edited, lightened = ((edits(chips, distance)[0] * luma).sum(0) for distance in (-1.0, 1.0))
    shade, light, highlight = (edited[16, column].item() for column in (3, 16, 30))

    def in_log_odds(level, odds=-LIGHTNESS):
        moved = CEILING / (1 + (CEILING - level) / level * 2.718281828**-odds)
        return torch.tensor((255 * moved + OFFSET) / (255 * level + OFFSET)).log().item()

    for change, level in ((shade, 0.25), (light, 0.7)):
        assert change == pytest.approx(
            -LIGHTNESS * TONE.evenly * SLOPE + (1 - TONE.evenly) * in_log_odds(level), abs=2e-3
        )
    assert in_log_odds(0.7) / in_log_odds(0.25) < 0.35 < 0.5 < light / shade
    assert abs(highlight) < 0.01
    assert lightened[16, 16] == pytest.approx(in_log_odds(0.7, LIGHTNESS), rel=1e-3)


def test_an_attribute_that_is_no_tone_of_skin_moves_form_alone():
    template = PLAIN.clone()
    template[:, :16] = 0.4
    edited = edits(flat(0.7), 1.0, template=template, lightness=0.0)[0]
    assert edited[:, :16].mean() > 0.02
    assert edited[:, 16:].mean() < -0.02
    torch.testing.assert_close(edited[0], edited[2])  # no colour: bright skin does not grow paler
    torch.testing.assert_close(edits(flat(0.7), 1.0, lightness=0.0), torch.zeros(1, 3, SIDE, SIDE))


def luminance_of(edited: torch.Tensor) -> torch.Tensor:
    return (edited * torch.tensor(LUMA)[:, None, None]).sum(0)


@pytest.mark.parametrize("lightness", [LIGHTNESS, -LIGHTNESS])
def test_no_part_of_a_face_shines_where_the_face_darkens(lightness):
    template = PLAIN.clone()
    template[:, 12:20, 12:20] = -4 * lightness  # such as lids: far lighter where the face is darker
    away = -1.0 if lightness > 0 else 1.0
    darkened, lightened = (
        luminance_of(edits(flat(0.4), x, template=template, lightness=lightness)[0])
        for x in (away, -away)
    )
    at_most = luminance_of(edits(flat(0.4), 1.0, lightness=GLOW)[0]).max()
    assert darkened[2, 2] < -0.05
    assert -0.01 < darkened[16, 16] <= at_most + 1e-6
    assert lightened[16, 16] < -0.1  # the other way the form stays whole


def test_however_far_an_edit_goes_no_part_darkens_beyond_the_darkest_and_what_lightens_goes_on():
    line = PLAIN.clone()
    line[:, :, 8], line[:, :, 20] = -0.3, 0.3
    ways = torch.tensor([[0.1, 1.0, 4.0, 40.0]])
    free, limited = (
        template_edits(flat(0.4), line, FACE, ways, use)[0, :, 0, 4]
        for use in (TemplateUse(), TemplateUse(darkest=0.5))
    )
    torch.testing.assert_close(limited[0, 8], free[0, 8], rtol=0.01, atol=0)  # a short way stays
    torch.testing.assert_close(limited[:, 20], free[:, 20])
    intended = template_edits(flat(0.4), line * 5 / 3, FACE, torch.tensor([[1.0]]))[0, 0, 0, 4, 8]
    assert free[2, 8] < 1.5 * intended
    assert (limited.diff(dim=0)[:, 8] <= 0).all()
    assert limited[3, 8].item() == pytest.approx(intended.item(), rel=1e-3)


def test_less_of_what_varies_slowly_stays_where_the_tone_darkens_and_all_of_it_where_it_lightens():
    chin, line = PLAIN.clone(), PLAIN.clone()
    chin[:, 20:], line[:, :, 10] = 0.1, 0.1
    slow = blurred(chin[None, :1], BROAD)[0].expand(3, -1, -1)
    full, less, none = TONE, TemplateUse(LIGHTNESS, slow=0.3), TemplateUse(LIGHTNESS, slow=0.0)

    def apart(template, way, use, a, b):
        edited = luminance_of(
            template_edits(flat(0.4), template, FACE, torch.tensor([[way]]), use)[0, 0]
        )
        return (edited[a] - edited[b]).item()

    chins = [apart(slow, -1.0, use, (28, 16), (4, 16)) for use in (full, less, none)]
    assert chins[0] < chins[1] < -0.005  # the chin, darker than the cheek, and less so
    assert chins[1] == pytest.approx(0.3 * chins[0], rel=0.2)
    assert chins[2] == pytest.approx(0, abs=0.002)
    lines = [apart(line, -1.0, use, (16, 10), (16, 25)) for use in (full, none)]
    assert abs(lines[1]) > 0.65 * abs(lines[0]) > 0.02  # what is narrow stays
    assert (
        apart(slow, 1.0, none, (28, 16), (4, 16))
        == apart(slow, 1.0, full, (28, 16), (4, 16))
        > 0.02
    )


def beside_the_tone(template: torch.Tensor, way: float, use: TemplateUse) -> torch.Tensor:
    """(S, S) by how much an edit changes a flat face beyond the tone, logarithms; the right is as the tone."""
    right = torch.zeros(SIDE, SIDE)
    right[:, 24:] = 1
    edited = luminance_of(
        template_edits(flat(0.4), template, right, torch.tensor([[way]]), use)[0, 0]
    )
    return edited - edited[:, -1:]


def bounded(
    darkest: float = 0.0, brightest: float = 0.0, parts: tuple[str, ...] = PARTS
) -> TemplateUse:
    def of(bound):
        return tuple(bound if part in parts else 0.0 for part in PARTS)

    return TemplateUse(
        LIGHTNESS, darkest_by_part=of(darkest), brightest_by_part=of(brightest), evenly=1.0
    )


def test_bounds_by_part_hold_where_the_tone_darkens_and_not_where_it_lightens():
    """The left of a face, which darkens, or lightens, beside the tone."""
    template = PLAIN.clone()
    template[:, :, :16] = 0.15
    free = bounded()
    for sign, limited in ((1, bounded(darkest=0.1)), (-1, bounded(brightest=0.1))):
        loose, bounded_change = (
            beside_the_tone(sign * template, -2.0, use)[16, 6] for use in (free, limited)
        )
        bound = 1 / (1 / 0.1 + 1 / 0.3)  # 0.3 long, bounded by 0.1
        assert abs(loose) == pytest.approx(0.3 * SLOPE, rel=0.02)
        assert abs(bounded_change) == pytest.approx(bound * SLOPE, rel=0.02)
        assert abs(beside_the_tone(sign * template, -200.0, limited)[16, 6]) < 1.05 * 0.1 * SLOPE
        torch.testing.assert_close(
            *(beside_the_tone(sign * template, 2.0, use) for use in (free, limited))
        )


def test_edits_made_ready_once_are_those_made_anew():
    """At every distance, with all that a template may use."""
    chips = torch.rand(2, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    template = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(2)) * 0.1
    use = TemplateUse(
        LIGHTNESS,
        darkest=0.7,
        brightest=0.9,
        darkest_by_part=(0.1,) * len(PARTS),
        brightest_by_part=(0.3,) * len(PARTS),
        slow=0.3,
    )
    ready = TemplateEdits(chips, template, FACE, use)
    for way in (-2.0, 1.0, -0.5):
        ways = torch.tensor([[way], [0.3]])
        torch.testing.assert_close(
            ready(ways), template_edits(chips, template, FACE, ways, use), rtol=0, atol=0
        )
        both = torch.tensor([[way, 0.0, -way], [0.3, way, 0.0]])
        torch.testing.assert_close(ready(both)[:, :1], ready(both[:, :1]))
        out = torch.full((2, 3, 3, 32, 32), -1.0)
        assert ready.pictures(both, out=out) is out
        torch.testing.assert_close(out, ready.pictures(both), rtol=0, atol=0)
