package policy_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/policy/schedule"
)

func TestGuard(t *testing.T) {
	t.Run("what is not set has its default", whatIsNotSetHasItsDefault)
	t.Run("guards that differ in a value are different", guardsThatDifferInAValueAreDifferent)
	t.Run("an empty list is a value", anEmptyListIsAValue)
	t.Run("a percentage of pods is rounded down, but is at least one pod", aPercentageOfPodsIsRoundedDown)
}

func whatIsNotSetHasItsDefault(t *testing.T) {
	want := policy.Guard{
		Enabled: true, Window: 5 * time.Minute, Restarts: 2, Unready: time.Minute, Cooldown: 10 * time.Minute,
		Throttling: 0.5, CPUPressure: 0.6, MemoryPressure: 0.2, MemoryUse: 0.95, MaxUnproven: intstr.FromString("10%"), MaxChange: 1, DisruptionBudgets: true, Breaker: true,
	}
	if diff := cmp.Diff(want, keys.Defaults[policy.Guard]()); diff != "" {
		t.Error(diff)
	}
}

func aPercentageOfPodsIsRoundedDown(t *testing.T) {
	for _, tc := range []struct {
		pods int
		most string
		want int
	}{
		{20, "10%", 2}, {3, "10%", 1}, {1, "10%", 1}, {0, "10%", 1}, {29, "10%", 2}, {30, "10%", 3}, {10, "100%", 10}, {7, "50%", 3}, {5000, "10%", 500}, {100, "57%", 57},
		{20, "3", 3}, {2, "3", 3},
	} {
		g := policy.Guard{MaxUnproven: intstr.Parse(tc.most)}
		if got := g.Unproven(tc.pods); got != tc.want {
			t.Errorf("%s of %d pods are %d, want %d", tc.most, tc.pods, got, tc.want)
		}
		if g.LimitsUnproven() != (tc.most != "100%") {
			t.Errorf("%s: some pods wait: %t", tc.most, g.LimitsUnproven())
		}
	}
}

// guarded returns the profile of pods with a guard.
func guarded(g policy.Guard, names ...string) policy.Profile {
	s := keys.Some(policy.Settings{Guard: g}, names...)
	return policy.NewProfile(&s)
}

func guardsThatDifferInAValueAreDifferent(t *testing.T) {
	g := keys.Defaults[policy.Guard]()
	same, all := guarded(g), guarded(g, "guard")
	if !all.GuardsAs(&same) {
		t.Errorf("%+v and %+v differ", all.Guard, same.Guard)
	}
	fields := reflect.TypeFor[policy.Guard]()
	for i := range fields.NumField() {
		changed := g
		switch v := reflect.ValueOf(&changed).Elem().Field(i); v.Kind() {
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Float64:
			v.SetFloat(v.Float() / 3)
		case reflect.Struct:
			v.Set(reflect.ValueOf(policy.AllPods))
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		default:
			v.SetInt(v.Int() + 1)
		}
		if other := guarded(changed, "guard"); all.GuardsAs(&other) {
			t.Errorf("%s does not count", fields.Field(i).Name)
		}
	}
}

func anEmptyListIsAValue(t *testing.T) {
	globals := keys.Some(policy.Settings{Guard: policy.Guard{Schedule: schedule.Schedule{{}}, Objectives: []policy.Objective{{}}}})
	rule := keys.Some(policy.Settings{Guard: policy.Guard{Schedule: schedule.Schedule{}, Objectives: []policy.Objective{}}})
	if all := rule.Over(globals).Values.Guard; rule.IsEmpty() || len(all.Schedule) != 0 || len(all.Objectives) != 0 {
		t.Errorf("%+v", all)
	}
}
