package work

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"sigs.k8s.io/yaml"
)

// Load is an amount over time: the sum of its parts, and noise in proportion to the sum.
type Load []Part

// Part is one part of a load. Exactly one of the fields that name its kind is set.
type Part struct {
	// Constant is always the same.
	Constant *Amount `json:"constant"`
	// Wave rises from 0 to this amount and falls back once per Period. It is highest Peak
	// after the start of the period. The first period began in 1970, at midnight UTC.
	Wave   *Amount  `json:"wave"`
	Period Duration `json:"period"`
	Peak   Duration `json:"peak"`
	// Weekly rises from 0 to this amount and falls back between From and To, in UTC, on
	// each of the Days.
	Weekly *Amount   `json:"weekly"`
	Days   []Weekday `json:"days"`
	From   Duration  `json:"from"`
	To     Duration  `json:"to"`
	// Spike is there in its window only, counted from the program's start.
	Spike *Amount `json:"spike"`
	Window
	// Leak is added in each Every, from the program's start, until the sum is UpTo.
	Leak *Amount `json:"leak"`
	UpTo Amount  `json:"upTo"`
	// Series is a recording. Each amount lasts for Step; after the last one, it begins
	// again. The first recording began in 1970, at midnight UTC.
	Series []Amount `json:"series"`
	Step   Duration `json:"step"`
	// Noise is a percentage by which the sum of the other parts varies up and down. It
	// changes every Step, or every minute.
	Noise *float64 `json:"noise"`
}

// noiseStep is how often noise changes if the work does not say so.
const noiseStep = Duration(time.Minute)

// UnmarshalJSON reads the list of parts, or an amount that is always the same.
func (l *Load) UnmarshalJSON(text []byte) error {
	if len(text) == 0 || text[0] != '[' {
		var constant Amount
		if err := constant.UnmarshalJSON(text); err != nil {
			return err
		}
		*l = Load{{Constant: &constant}}
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	// Not nil: an empty list is a load of nothing.
	*l = make(Load, len(parts))
	for i, part := range parts {
		if err := yaml.UnmarshalStrict(part, &(*l)[i]); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error unless the parts are complete, and their amounts possible.
func (l Load) check(possible unit) error {
	for i, part := range l {
		err := part.check()
		for _, amount := range part.amounts() {
			if err == nil {
				err = possible.check(amount)
			}
		}
		if err != nil {
			return fmt.Errorf("part %d: %w", i+1, err)
		}
	}
	return nil
}

// amounts returns all amounts of the part that are set.
func (p *Part) amounts() []Amount {
	amounts := append([]Amount{p.UpTo}, p.Series...)
	for _, amount := range []*Amount{p.Constant, p.Wave, p.Weekly, p.Spike, p.Leak} {
		if amount != nil {
			amounts = append(amounts, *amount)
		}
	}
	return amounts
}

// check returns an error unless the part has one kind, and what the kind needs and no more.
func (p *Part) check() error {
	type field struct {
		name string
		set  bool
	}
	window := []field{{"at", p.At != 0}, {"for", p.For != 0}, {"every", p.Every != 0}}
	weekly := []field{{"days", p.Days != nil}, {"from", p.From != 0}, {"to", p.To != 0}}
	wave := []field{{"period", p.Period != 0}, {"peak", p.Peak != 0}}
	upTo, step := field{"upTo", p.UpTo != 0}, field{"step", p.Step != 0}
	kinds := []struct {
		field
		with []field
		err  error
	}{
		{field{"constant", p.Constant != nil}, nil, nil},
		{field{"wave", p.Wave != nil}, wave, need(p.Period > 0, "a wave needs a period")},
		{field{"weekly", p.Weekly != nil}, weekly, need(len(p.Days) > 0 && p.From < p.To && p.To <= day, "a weekly peak needs days, and times of the day from and to")},
		{field{"spike", p.Spike != nil}, window, p.Window.check()},
		{field{"leak", p.Leak != nil}, []field{window[2], upTo}, need(p.Every > 0, "a leak needs every")},
		{field{"series", p.Series != nil}, []field{step}, need(len(p.Series) > 0 && p.Step > 0, "a series needs amounts and a step")},
		{field{"noise", p.Noise != nil}, []field{step}, need(p.Noise != nil && *p.Noise >= 0 && *p.Noise <= 100, "noise is not a percentage")},
	}
	kind := -1
	for i, candidate := range kinds {
		switch {
		case candidate.set && kind >= 0:
			return fmt.Errorf("%s and %s are different parts", kinds[kind].name, candidate.name)
		case candidate.set:
			kind = i
		}
	}
	if kind < 0 {
		return errors.New("it is none of constant, wave, weekly, spike, leak, series and noise")
	}
	allowed := map[string]bool{}
	for _, with := range kinds[kind].with {
		allowed[with.name] = true
	}
	for _, other := range append(append(append(window, weekly...), wave...), upTo, step) {
		if other.set && !allowed[other.name] {
			return fmt.Errorf("%s has no %s", kinds[kind].name, other.name)
		}
	}
	return kinds[kind].err
}

func need(met bool, message string) error {
	if met {
		return nil
	}
	return errors.New(message)
}

// moment is when a load is asked for.
type moment struct {
	now  time.Time
	age  time.Duration
	seed uint64
}

// at returns the amount at a moment.
func (l Load) at(m moment) float64 {
	var sum float64
	for i := range l {
		sum += l[i].at(m)
	}
	varied := sum
	for i := range l {
		if noise := l[i].Noise; noise != nil {
			varied += sum * *noise / 100 * l[i].deviation(m, i)
		}
	}
	return max(varied, 0)
}

func (p *Part) at(m moment) float64 {
	switch {
	case p.Constant != nil:
		return float64(*p.Constant)
	case p.Wave != nil:
		turn := float64(m.now.UnixNano()-int64(p.Peak)) / float64(p.Period)
		return float64(*p.Wave) * (1 + math.Cos(2*math.Pi*turn)) / 2
	case p.Weekly != nil:
		return float64(*p.Weekly) * p.openness(m.now.UTC())
	case p.Spike != nil && p.contains(m.age):
		return float64(*p.Spike)
	case p.Leak != nil:
		leaked := float64(*p.Leak) * float64(m.age) / float64(p.Every)
		if p.UpTo > 0 {
			leaked = min(leaked, float64(p.UpTo))
		}
		return leaked
	case p.Series != nil:
		step := m.now.UnixNano() / int64(p.Step)
		length := int64(len(p.Series))
		return float64(p.Series[(step%length+length)%length])
	}
	return 0
}

// openness returns how far a weekly peak has risen, from 0 to 1.
func (p *Part) openness(now time.Time) float64 {
	for _, weekday := range p.Days {
		if now.Weekday() != time.Weekday(weekday) {
			continue
		}
		midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
		passed := float64(now.Sub(midnight)-time.Duration(p.From)) / float64(p.To-p.From)
		if passed > 0 && passed < 1 {
			return math.Sin(math.Pi * passed)
		}
	}
	return 0
}

// deviation returns a number from -1 to 1 that depends on the seed, the part and the step.
func (p *Part) deviation(m moment, part int) float64 {
	step := p.Step
	if step == 0 {
		step = noiseStep
	}
	hash := fnv.New64a()
	fmt.Fprint(hash, m.seed, " ", part, " ", m.now.UnixNano()/int64(step))
	// The upper bits of this hash barely depend on the last bytes.
	const bits = 32
	mixed := hash.Sum64() * 0x9E3779B97F4A7C15
	return float64(mixed>>(64-bits))/(1<<(bits-1)) - 1
}
