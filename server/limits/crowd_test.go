package limits

import (
	"fmt"
	"testing"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// editor returns one of the accounts that an editor of a namespace creates.
func editor(n int) access.Who {
	return access.Who{Origin: "system:serviceaccount:mallory", Account: fmt.Sprint("system:serviceaccount:mallory:", n)}
}

func TestCrowd(t *testing.T) {
	for _, tc := range []struct {
		name   string
		victim access.Who
		others func(n int) access.Who
	}{
		{"many accounts of one namespace do not keep out others", who("ann"), editor},
		{"many accounts of one namespace do not keep out another namespace's", access.Who{Origin: "system:serviceaccount:shop", Account: "system:serviceaccount:shop:ann"}, editor},
		{"one account does not keep out another one of its namespace", editor(0), func(int) access.Who { return editor(1) }},
		{"one credential does not keep out another one of its account",
			access.Who{Origin: "ci", Account: "ci", Credential: "JTI=1"}, func(int) access.Who { return access.Who{Origin: "ci", Account: "ci", Credential: "JTI=2"} }},
		{"many credentials of one account do not keep out another account",
			who("ann"), func(n int) access.Who {
				return access.Who{Origin: "ci", Account: "ci", Credential: fmt.Sprint("JTI=", n)}
			}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCrowd[int](20, 10)
			victim := [2]member[int]{}
			for i := range victim {
				c.add(&victim[i], tc.victim)
			}
			for n := range 100 {
				c.add(&member[int]{}, tc.others(n))
			}
			if c.all.size > 20 {
				t.Errorf("%d members", c.all.size)
			}
			for i := range victim {
				if victim[i].place == nil {
					t.Errorf("member %d gave way", i)
				}
			}
		})
	}
	t.Run("the member that is used least recently gives way", func(t *testing.T) {
		c := newCrowd[int](20, 3)
		var all [3]member[int]
		for i := range all {
			c.add(&all[i], who("ann"))
		}
		c.use(&all[0])
		if displaced := c.add(&member[int]{}, who("ann")); displaced != &all[1] {
			t.Errorf("%+v gave way", displaced)
		}
	})
	t.Run("nothing remains of members that leave", func(t *testing.T) {
		c := newCrowd[int](20, 3)
		m := &member[int]{}
		c.add(m, editor(0))
		c.remove(m)
		c.remove(m)
		if c.all.size != 0 || len(c.all.parts) != 0 {
			t.Errorf("%+v", c.all)
		}
	})
}
