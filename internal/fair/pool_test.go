package fair

import (
	"fmt"
	"testing"
)

// editor returns one of the accounts that an editor of a namespace creates.
func editor(n int) Key {
	return Key{Origin: "system:serviceaccount:mallory", Account: fmt.Sprint("system:serviceaccount:mallory:", n)}
}

// ann is a user without a credential.
var ann = Key{Origin: "ann", Account: "ann"}

func TestPool(t *testing.T) {
	t.Run("nobody keeps others out", nobodyKeepsOthersOut)
	t.Run("the share that is used least recently gives way", theShareThatIsUsedLeastRecentlyGivesWay)
	t.Run("refuses at the widest level without room", refusesAtTheWidestLevelWithoutRoom)
	t.Run("a part without a name has no limit of its own", aPartWithoutANameHasNoLimitOfItsOwn)
	t.Run("nothing remains of shares that are released", nothingRemainsOfSharesThatAreReleased)
}

func nobodyKeepsOthersOut(t *testing.T) {
	for _, tc := range []struct {
		name   string
		victim Key
		others func(n int) Key
	}{
		{"many accounts of one namespace do not keep out others", ann, editor},
		{"many accounts of one namespace do not keep out another namespace's", Key{Origin: "system:serviceaccount:shop", Account: "system:serviceaccount:shop:ann"}, editor},
		{"one account does not keep out another one of its namespace", editor(0), func(int) Key { return editor(1) }},
		{"one credential does not keep out another one of its account",
			Key{Origin: "ci", Account: "ci", Credential: "JTI=1"}, func(int) Key { return Key{Origin: "ci", Account: "ci", Credential: "JTI=2"} }},
		{"many credentials of one account do not keep out another account",
			ann, func(n int) Key { return Key{Origin: "ci", Account: "ci", Credential: fmt.Sprint("JTI=", n)} }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := NewPool[int](Limits{All: 20, PerAccount: 10})
			victim := [2]Share[int]{}
			for i := range victim {
				p.Insert(&victim[i], tc.victim)
			}
			for n := range 100 {
				p.Insert(&Share[int]{}, tc.others(n))
			}
			if held := p.Held(All, Key{}); held > 20 {
				t.Errorf("%d are held", held)
			}
			for i := range victim {
				if !victim[i].Holds() {
					t.Errorf("share %d gave way", i)
				}
			}
		})
	}
}

func theShareThatIsUsedLeastRecentlyGivesWay(t *testing.T) {
	p := NewPool[int](Limits{All: 20, PerAccount: 3})
	var all [3]Share[int]
	for i := range all {
		p.Insert(&all[i], ann)
	}
	all[0].Use()
	if evicted := p.Insert(&Share[int]{}, ann); evicted != &all[1] {
		t.Errorf("%+v gave way", evicted)
	}
	if all[1].Holds() {
		t.Error("what gave way is held")
	}
}

func refusesAtTheWidestLevelWithoutRoom(t *testing.T) {
	p := NewPool[struct{}](Limits{All: 10, PerOrigin: 6, PerAccount: 4, PerCredential: 3})
	for i, step := range []struct {
		who    Key
		amount int
		full   *Full
	}{
		{Key{"a", "a1", "x"}, 2, nil},
		{Key{"a", "a1", "x"}, 2, &Full{Credential, 3, 1}},
		{Key{"a", "a1", "x"}, 1, nil},
		{Key{"a", "a1", "y"}, 1, nil},
		{Key{"a", "a1", "y"}, 1, &Full{Account, 4, 3}},
		{Key{"a", "a2", "x"}, 3, &Full{Origin, 6, 3}},
		{Key{"a", "a2", "x"}, 2, nil},
		{Key{"a", "a1", "x"}, 1, &Full{Origin, 6, 4}}, // Its account and credential have no room, too.
		{Key{"b", "b", "x"}, 3, nil},
		{Key{"c", "c", "x"}, 2, &Full{All, 10, 5}},
		{Key{"c", "c", "x"}, 1, nil},
	} {
		full := p.full(step.who, step.amount)
		if (full == nil) != (step.full == nil) || full != nil && *full != *step.full {
			t.Errorf("step %d: has no room for %+v, want %+v", i, full, step.full)
		}
		if got := p.Take(&Share[struct{}]{}, step.who, step.amount); (got == nil) != (full == nil) || got != nil && *got != *full {
			t.Errorf("step %d: %+v, want %+v", i, got, full)
		}
	}
}

func aPartWithoutANameHasNoLimitOfItsOwn(t *testing.T) {
	p := NewPool[struct{}](Limits{All: 9, PerOrigin: 5, PerAccount: 3, PerCredential: 1})
	for _, tc := range []struct {
		who  Key
		most int
	}{{Key{"a", "a", ""}, 3}, {Key{"b", "", ""}, 5}, {Key{}, 9}} {
		var all [10]Share[struct{}]
		n := 0
		for p.Take(&all[n], tc.who, 1) == nil {
			n++
		}
		if n != tc.most {
			t.Errorf("%+v takes %d, want %d", tc.who, n, tc.most)
		}
		for i := range all {
			all[i].Release()
		}
	}
}

func nothingRemainsOfSharesThatAreReleased(t *testing.T) {
	p := NewPool[int](Limits{All: 20, PerAccount: 3})
	s := &Share[int]{}
	p.Insert(s, editor(0))
	s.Release()
	s.Release()
	if p.Held(All, Key{}) != 0 || len(p.groups[All][Key{}].parts) != 0 || len(p.groups[Origin])+len(p.groups[Account])+len(p.groups[Credential]) != 0 {
		t.Errorf("%+v", p)
	}
}
