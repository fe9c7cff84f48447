package document

import "testing"

func TestKnown(t *testing.T) {
	t.Run("what is news of the ConfigMap", whatIsNewsOfTheConfigMap)
}

func whatIsNewsOfTheConfigMap(t *testing.T) {
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
		{"the watch goes on", []step{watched(at("100"), true), watched(at("101"), true)}},
		{"the watch does not undo what was written here", []step{own(at("102"), true), watched(at("101"), false), watched(at("102"), true)}},
		{"what the watch has shown is no news to who reads it", []step{watched(at("100"), true), own(at("100"), false)}},
		{"nor what the watch is ahead of", []step{watched(at("100"), true), own(at("99"), false)}},
		{"nor what was read just before", []step{own(at("100"), true), own(at("100"), false), own(at("99"), false)}},
		{"the watch goes back when etcd is restored", []step{watched(at("100"), true), watched(at("90"), true)}},
		{"also after a write that it has seen", []step{own(at("100"), true), watched(at("100"), true), watched(at("90"), true)}},
		{"another ConfigMap of the name is news, whatever its version", []step{own(at("100"), true), watched(other, true)}},
		{"also to who reads it", []step{watched(at("100"), true), own(other, true)}},
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
