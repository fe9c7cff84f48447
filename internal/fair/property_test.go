package fair

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// caller returns a random caller: a few origins with a few accounts and credentials each, of which the
// first ones call most.
func caller(r *rand.Rand) Key {
	few := func(most int) int { return int(r.Float64() * r.Float64() * float64(most)) }
	origin := few(6)
	account := fmt.Sprint(origin, "/", few(4))
	return Key{Origin: fmt.Sprint(origin), Account: account, Credential: fmt.Sprint(account, "/", few(3))}
}

// counted recounts what is held, by the key of each level.
func counted(all map[*Share[int]]Key, amounts map[*Share[int]]int) (held [levels]map[Key]int) {
	for l := range held {
		held[l] = map[Key]int{}
	}
	for s, who := range all {
		for l := range levels {
			held[l][who.prefix(l)] += amounts[s]
		}
	}
	return held
}

// whichever returns a random share that is held; nil if there is none.
func whichever(r *rand.Rand, all map[*Share[int]]Key) *Share[int] {
	if len(all) == 0 {
		return nil
	}
	byNumber := slices.SortedFunc(maps.Keys(all), func(a, b *Share[int]) int { return a.Value - b.Value })
	return byNumber[r.IntN(len(byNumber))]
}

// A Pool is fair in any order of arrivals, uses and releases.
func TestPoolIsFair(t *testing.T) {
	limits := Limits{All: 24, PerOrigin: 12, PerAccount: 8, PerCredential: 5}
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 0))
		for _, evicts := range []bool{false, true} {
			p := NewPool[int](limits)
			all, amounts := map[*Share[int]]Key{}, map[*Share[int]]int{}
			for step := range 700 {
				s := whichever(r, all)
				switch do := r.IntN(5); {
				case do == 0 && s != nil:
					s.Release()
					delete(all, s)
				case do == 1 && s != nil:
					s.Use()
				case evicts:
					arrives(t, p, all, amounts, &Share[int]{Value: step}, caller(r))
				default:
					asks(t, p, all, amounts, &Share[int]{Value: step}, caller(r), 1+r.IntN(4))
				}
				agrees(t, p, counted(all, amounts))
				if t.Failed() {
					t.Fatalf("seed %d, step %d, evicts: %v", seed, step, evicts)
				}
			}
		}
	}
}

// agrees checks that a pool counts what is held, and that this is within its limits.
func agrees(t *testing.T, p *Pool[int], held [levels]map[Key]int) {
	t.Helper()
	for l := range levels {
		for key, n := range held[l] {
			if got := p.Held(l, key); got != n || n > p.limits.at(l) {
				t.Errorf("level %d: %+v holds %d, counted as %d, of at most %d", l, key, n, got, p.limits.at(l))
			}
		}
		if l != All && len(p.groups[l]) != len(held[l]) {
			t.Errorf("level %d: %d groups, want %d", l, len(p.groups[l]), len(held[l]))
		}
	}
	n := 0
	for range p.Shares() {
		n++
	}
	if n != p.groups[All][Key{}].shares {
		t.Errorf("%d shares of %d", n, p.groups[All][Key{}].shares)
	}
}

// arrives checks that a newcomer finds a place, and that who gives way holds most at the level where there
// is too much, and at each level below it.
func arrives(t *testing.T, p *Pool[int], all map[*Share[int]]Key, amounts map[*Share[int]]int, s *Share[int], who Key) {
	t.Helper()
	evicted := p.Insert(s, who)
	all[s], amounts[s] = who, 1
	held := counted(all, amounts)
	over := levels
	for l := range levels {
		if held[l][who.prefix(l)] > p.limits.at(l) {
			over = l // The narrowest one.
		}
	}
	switch {
	case over == levels && evicted != nil:
		t.Errorf("%+v gave way although there was room", all[evicted])
	case over == levels:
	case evicted == nil || evicted == s || evicted.Holds():
		t.Errorf("%+v gave way to %+v", evicted, who)
	default:
		loser := all[evicted]
		within := who.prefix(over)
		for l := over + 1; l < levels; l++ {
			lost := loser.prefix(l)
			for key, n := range held[l] {
				if key.prefix(l-1) == within && n > held[l][lost] {
					t.Errorf("%+v gave way, which held %d, and not %+v, which held %d", lost, held[l][lost], key, n)
				}
			}
			within = lost
		}
		delete(all, evicted)
	}
}

// asks checks that a caller is refused only if a limit is reached, and is told the widest one.
func asks(t *testing.T, p *Pool[int], all map[*Share[int]]Key, amounts map[*Share[int]]int, s *Share[int], who Key, amount int) {
	t.Helper()
	held, want := counted(all, amounts), levels
	for l := Credential; l >= All; l-- {
		if held[l][who.prefix(l)]+amount > p.limits.at(l) {
			want = l
		}
	}
	others := p.limits.Full(who, amount, func(yield func(Key, int) bool) {
		for s, of := range all {
			if !yield(of, amounts[s]) {
				return
			}
		}
	})
	full := p.Take(s, who, amount)
	if (full == nil) != (others == nil) || full != nil && *full != *others {
		t.Errorf("%+v takes %d: %+v, but counted again %+v", who, amount, full, others)
	}
	switch {
	case full == nil && want == levels:
		all[s], amounts[s] = who, amount
	case full == nil:
		t.Errorf("%+v takes %d, although level %d is full", who, amount, want)
	case full.Level != want:
		t.Errorf("%+v takes no %d because of level %d, want %d", who, amount, full.Level, want)
	}
}

// No origin is kept out for long, however much others ask for: of those who always want more than there
// is, each gets the same, and so do the accounts of an origin.
func TestPoolGivesEqualSharesUnderPressure(t *testing.T) {
	p := NewPool[struct{}](Limits{All: 60})
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		// The first origin asks ten times as often, with many accounts.
		who := Key{Origin: "flood", Account: fmt.Sprint(r.IntN(100))}
		switch r.IntN(12) {
		case 0:
			who = Key{Origin: "shop", Account: "calm"}
		case 1, 2:
			who = Key{Origin: "shop", Account: "busy"}
		}
		p.Insert(&Share[struct{}]{}, who)
	}
	for who, want := range map[Key]int{{Origin: "flood"}: 30, {Origin: "shop"}: 30} {
		if got := p.Held(Origin, who); got != want {
			t.Errorf("%s holds %d, want %d", who.Origin, got, want)
		}
	}
	for _, account := range []string{"calm", "busy"} {
		if got := p.Held(Account, Key{Origin: "shop", Account: account}); got != 15 {
			t.Errorf("%s holds %d, want 15", account, got)
		}
	}
}

// However callers use a Rate, all together keep to it, and who is refused has used its part.
func TestRateIsFair(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		limits := Rates{PerOrigin: Burst{40, 80}, PerAccount: Burst{20, 40}}
		rate := NewRate(limits, 100)
		now := began
		allowed := [levels]map[Key]int{Origin: {}, Account: {}, Credential: {}}
		for range 20_000 {
			now = now.Add(time.Duration(r.IntN(int(2 * time.Millisecond))))
			who := caller(r)
			full, ok := rate.Allow(who, now)
			if !ok {
				if full != Account && full != Origin {
					t.Fatalf("refused because of level %d", full)
				}
				continue
			}
			for l := Origin; l < levels; l++ {
				allowed[l][who.prefix(l)]++
			}
		}
		passed := now.Sub(began).Seconds()
		for l, most := range map[Level]Burst{Origin: limits.PerOrigin, Account: limits.PerAccount} {
			for key, n := range allowed[l] {
				if float64(n) > most.PerSecond*passed+float64(most.Most)+1 {
					t.Errorf("seed %d: %d times in %.1f s for %+v", seed, n, passed, key)
				}
			}
		}
		for key, n := range allowed[Account] {
			if n == 0 {
				t.Errorf("seed %d: nothing for %+v", seed, key)
			}
		}
	}
}
