package policy_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/schedule"
)

func TestGuard(t *testing.T) {
	t.Run("each value that a rule sets takes precedence, and the globals have the others", eachValueThatARuleSetsTakesPrecedence)
	t.Run("an empty list is a value", anEmptyListIsAValue)
	t.Run("what is not set has its default", whatIsNotSetHasItsDefault)
	t.Run("a setting is what is set", aSettingIsWhatIsSet)
}

// leaves calls visit for each value of a guard.
func leaves(g *policy.Guard, visit func(name string, value reflect.Value)) {
	v := reflect.ValueOf(g).Elem()
	for i := range v.NumField() {
		visit(v.Type().Field(i).Name, v.Field(i))
	}
}

// only returns a guard that sets one value.
func only(t *testing.T, name string) (g policy.Guard) {
	t.Helper()
	found := false
	leaves(&g, func(of string, value reflect.Value) {
		if of != name {
			return
		}
		found = true
		if value.Kind() == reflect.Slice {
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		} else {
			value.Set(reflect.New(value.Type().Elem()))
		}
	})
	if !found {
		t.Fatalf("a guard has no %s", name)
	}
	return g
}

// set reports which values are set.
func set(g policy.Guard) map[string]bool {
	all := map[string]bool{}
	leaves(&g, func(name string, value reflect.Value) {
		if !value.IsNil() {
			all[name] = true
		}
	})
	return all
}

func eachValueThatARuleSetsTakesPrecedence(t *testing.T) {
	var names []string
	leaves(&policy.Guard{}, func(name string, _ reflect.Value) { names = append(names, name) })
	if empty := (&policy.Guard{}); !empty.IsEmpty() || len(names) != 18 {
		t.Errorf("a guard has %q", names)
	}
	for _, name := range names {
		one, none := only(t, name), policy.Guard{}
		if one.IsEmpty() {
			t.Errorf("a guard that sets only %s is empty", name)
		}
		want := map[string]bool{name: true}
		if over, under := one.Over(&none), none.Over(&one); !cmp.Equal(set(over), want) || !cmp.Equal(set(under), want) {
			t.Errorf("%s: over an empty guard %v, under one %v", name, set(over), set(under))
		}
		first, second := only(t, name), only(t, name)
		both := first.Over(&second)
		leaves(&both, func(of string, value reflect.Value) {
			leaves(&first, func(same string, own reflect.Value) {
				if same == of && value.Pointer() != own.Pointer() {
					t.Errorf("%s of the rule does not take precedence", of)
				}
			})
		})
	}
}

func anEmptyListIsAValue(t *testing.T) {
	globals, rule := policy.Guard{Schedule: schedule.Schedule{{}}, Objectives: []policy.Objective{{}}}, policy.Guard{Schedule: schedule.Schedule{}, Objectives: []policy.Objective{}}
	if all := rule.Over(&globals); rule.IsEmpty() || len(all.Schedule) != 0 || len(all.Objectives) != 0 {
		t.Errorf("%+v", all)
	}
}

func whatIsNotSetHasItsDefault(t *testing.T) {
	want := policy.GuardSettings{
		Enabled: true, Window: 5 * time.Minute, Restarts: 2, Unready: time.Minute, Cooldown: 10 * time.Minute,
		Throttling: 0.5, CPUPressure: 0.6, MemoryPressure: 0.2, MemoryUse: 0.95, Canary: 0.1, MaxChange: 1, DisruptionBudgets: true, Breaker: true,
	}
	if diff := cmp.Diff(want, new(policy.Guard).Settings()); diff != "" {
		t.Error(diff)
	}
}

func aSettingIsWhatIsSet(t *testing.T) {
	off, three, seven, half, duration := false, 3, 7, 0.5, []time.Duration{1, 2, 4}
	share := []float64{0.1, 0.2, 0.3, 0.4}
	g := policy.Guard{
		Enabled: &off, Window: &duration[0], Restarts: &three, Unready: &duration[1], Cooldown: &duration[2], Canary: &half, Breaker: &off,
		MaxChange: &share[1], MaxPods: &three, MaxPodsOnNode: &seven, DisruptionBudgets: &off, KeepSingletonLimits: new(true),
		Throttling: &share[0], CPUPressure: &share[1], MemoryPressure: &share[2], MemoryUse: &share[3],
		Objectives: []policy.Objective{{Name: "a"}}, Schedule: schedule.Schedule{},
	}
	want := policy.GuardSettings{
		Enabled: false, Window: 1, Restarts: 3, Unready: 2, Cooldown: 4, Canary: 0.5, MaxChange: 0.2, MaxPods: 3, MaxPodsOnNode: 7, KeepSingletonLimits: true,
		Throttling: 0.1, CPUPressure: 0.2, MemoryPressure: 0.3, MemoryUse: 0.4, Objectives: g.Objectives, Schedule: g.Schedule,
	}
	if diff := cmp.Diff(want, g.Settings()); diff != "" {
		t.Error(diff)
	}
}
