package document

import "testing"

func TestKnown(t *testing.T) {
	t.Run("reports new states of the ConfigMap", reportsNewStatesOfTheConfigMap)
}

func reportsNewStatesOfTheConfigMap(t *testing.T) {
	at := func(version string) state { return state{"1", version} }
	other := state{"2", "50"}
	type step struct {
		own  bool
		at   state
		news bool
	}
	watched := func(s state, news bool) step { return step{false, s, news} }
	own := func(s state, news bool) step { return step{true, s, news} }
	for _, tc := range []struct {
		name  string
		steps []step
	}{
		{"a later watched state is new", []step{watched(at("100"), true), watched(at("101"), true)}},
		{"the watch does not undo an own write", []step{own(at("102"), true), watched(at("101"), false), watched(at("102"), true)}},
		{"reading the watched state is not new", []step{watched(at("100"), true), own(at("100"), false)}},
		{"reading a state older than the watched one is not new", []step{watched(at("100"), true), own(at("99"), false)}},
		{"reading the last own state or an older one is not new", []step{own(at("100"), true), own(at("100"), false), own(at("99"), false)}},
		{"an older watched state is new, as when etcd is restored", []step{watched(at("100"), true), watched(at("90"), true)}},
		{"an older watched state is new after the watch has seen the own write", []step{own(at("100"), true), watched(at("100"), true), watched(at("90"), true)}},
		{"watching another ConfigMap of the same name is new, regardless of its version", []step{own(at("100"), true), watched(other, true)}},
		{"reading another ConfigMap of the same name is new", []step{watched(at("100"), true), own(other, true)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var k known
			for i, s := range tc.steps {
				take := k.watch
				if s.own {
					take = k.have
				}
				if news := take(s.at); news != s.news {
					t.Errorf("step %d: news %v, want %v", i, news, s.news)
				}
			}
		})
	}
}
