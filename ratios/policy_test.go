package ratios_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

func TestPolicy(t *testing.T) {
	t.Run("what no layer sets has its default", whatNoLayerSetsHasItsDefault)
	t.Run("a layer has the values of the layers below it", aLayerHasTheValuesOfTheLayersBelowIt)
	t.Run("a guard changes neither the revision nor which pods match", aGuardChangesNeitherTheRevisionNorWhichPodsMatch)
}

func whatNoLayerSetsHasItsDefault(t *testing.T) {
	if p := merge(t, withRules()).Profile(ratiotest.Subject{}); !cmp.Equal(keys.Defaults[policy.Guard](), p.Guard) {
		t.Errorf("the profile has %+v", p.Guard)
	}
}

func aLayerHasTheValuesOfTheLayersBelowIt(t *testing.T) {
	first, second := &ratios.Layer{Settings: keys.Some(policy.Settings{Guard: policy.Guard{Restarts: 3}})}, withRules()
	second.Settings = keys.Some(policy.Settings{Guard: policy.Guard{Restarts: 2}}, "guard.enabled")
	s := merge(t, first, second).Profile(ratiotest.Subject{}).Guard
	if s.Restarts != 3 || s.Enabled {
		t.Errorf("%d restarts, enabled: %t", s.Restarts, s.Enabled)
	}
}

func aGuardChangesNeitherTheRevisionNorWhichPodsMatch(t *testing.T) {
	match := policy.Criteria{ComputeClass: "c"}
	before, guarded := withRules(ratios.Rule{Match: match, Baseline: "n4"}), withRules(ratios.Rule{Match: match, Baseline: "n4", Settings: keys.Some(policy.Settings{Guard: policy.Guard{Restarts: 3}})})
	guarded.Settings = keys.Some(policy.Settings{}, "guard.enabled").Over(guarded.Settings)
	a, b := merge(t, before), merge(t, guarded)
	if a.Revision != b.Revision || !a.MatchesAs(b) {
		t.Errorf("revisions %s and %s, match alike: %t", a.Revision, b.Revision, a.MatchesAs(b))
	}
	if s := b.Profile(ratiotest.Subject{Class: "c"}).Guard; s.Restarts != 3 || s.Enabled {
		t.Errorf("the rule has %+v", s)
	}
}
