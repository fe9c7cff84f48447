package seal

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	start = time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	web   = Subject{Namespace: "shop", Owner: "7b1c", Revision: "5d4f"}
	small = Creation{NodeType: "n4", At: start.Add(time.Hour), Sizes: "app 0 cpu 1/2>800m/1600m memory 1Gi"}
)

// ring returns a ring with a key of an age at small.At.
func ring(t *testing.T, age time.Duration) *Ring {
	t.Helper()
	r, changed := (*Ring)(nil).Renewed(small.At.Add(-age))
	if !changed {
		t.Fatal("no key was created")
	}
	return r
}

func signed(t *testing.T, r *Ring, of Subject, c Creation) string {
	t.Helper()
	text, err := r.Sign(of, c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestOpen(t *testing.T) {
	r := ring(t, time.Hour)
	good := signed(t, r, web, small)
	parts := strings.SplitN(good, " ", 5)
	with := func(i int, text string) string {
		changed := append([]string{}, parts...)
		changed[i] = text
		return strings.Join(changed, " ")
	}
	for _, tc := range []struct {
		name    string
		ring    *Ring
		of      Subject
		text    string
		created time.Time
		want    string
	}{
		{"as it was signed", r, web, good, small.At, ""},
		{"created before, by another clock", r, web, good, small.At.Add(-Valid), ""},
		{"created at the last moment", r, web, good, small.At.Add(Valid), ""},
		{"created too late", r, web, good, small.At.Add(Valid + time.Second), "it was signed at 2026-11-28T11:00:00Z, and is valid for pods that are created within 5m0s"},
		{"in another namespace", r, Subject{"other", web.Owner, web.Revision}, good, small.At, "it was not signed for this pod"},
		{"of another controller", r, Subject{web.Namespace, "0000", web.Revision}, good, small.At, "it was not signed for this pod"},
		{"of another revision", r, Subject{web.Namespace, web.Owner, ""}, good, small.At, "it was not signed for this pod"},
		{"parts that move", r, Subject{web.Namespace + web.Owner, "", web.Revision}, good, small.At, "it was not signed for this pod"},
		{"another node type", r, web, with(0, "c3"), small.At, "it was not signed for this pod"},
		{"another time", r, web, with(1, "2026-11-28T11:00:01Z"), small.At, "it was not signed for this pod"},
		{"no time", r, web, with(1, "now"), small.At, "its time cannot be read"},
		{"another key", r, web, with(2, "20200101T000000Z"), small.At, `the key "20200101T000000Z" that it was signed with is not known`},
		{"no MAC", r, web, with(3, ""), small.At, "it was not signed for this pod"},
		{"a part of the MAC", r, web, with(3, parts[3][:4]), small.At, "it was not signed for this pod"},
		{"different sizes", r, web, with(4, "app 0 cpu 8/9>800m/1600m memory 1Gi"), small.At, "it was not signed for this pod"},
		{"nonsense", r, web, "nonsense", small.At, "it cannot be read"},
		{"no keys", nil, web, good, small.At, "that it was signed with is not known"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := tc.ring.Open(tc.of, tc.text, tc.created)
			switch {
			case tc.want == "" && (err != nil || got != small):
				t.Errorf("got %+v, %v; want %+v", got, err, small)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || got != Creation{}):
				t.Errorf("got %+v, %v; want an error with %q", got, err, tc.want)
			}
		})
	}
	unknown := small
	unknown.NodeType = ""
	if got, err := r.Open(web, signed(t, r, web, unknown), small.At); err != nil || got != unknown {
		t.Errorf("got %+v, %v; want an unknown node type", got, err)
	}
	if _, err := r.Sign(Subject{Namespace: "shop"}, small); err == nil {
		t.Error("a pod without a controller was signed")
	}
}

func TestRing(t *testing.T) {
	t.Run("does not sign with a key that other replicas may not have read", func(t *testing.T) {
		fresh := ring(t, settle-time.Second)
		if _, err := fresh.Sign(web, small); !errors.Is(err, ErrNoKey) {
			t.Errorf("got %v, want ErrNoKey", err)
		}
		old := ring(t, time.Hour)
		both := old.With(fresh)
		if _, err := old.Open(web, signed(t, both, web, small), small.At); err != nil {
			t.Errorf("it was not signed with the older key: %v", err)
		}
		later := small
		later.At = small.At.Add(time.Second)
		if _, err := fresh.Open(web, signed(t, both, web, later), later.At); err != nil {
			t.Errorf("it was not signed with the newer key: %v", err)
		}
	})
	t.Run("is renewed without losing pods", func(t *testing.T) {
		first := ring(t, 0)
		text := signed(t, first, web, Creation{At: small.At.Add(settle)})
		current := first
		for month := 1; month <= 13; month++ {
			renewed, changed := current.Renewed(small.At.Add(time.Duration(month) * renewAfter))
			if !changed || len(renewed.keys) != month+1 {
				t.Fatalf("month %d: %d keys", month, len(renewed.keys))
			}
			if _, err := renewed.Open(web, text, small.At); err != nil {
				t.Fatalf("month %d: %v", month, err)
			}
			current = renewed
		}
		if renewed, changed := current.Renewed(small.At.Add(13*renewAfter + time.Hour)); changed || renewed.current(small.At.Add(14*renewAfter)) != current.names[13] {
			t.Error("it is renewed again within an hour")
		}
		if renewed, changed := current.Renewed(small.At.Add(dropAfter)); !changed || renewed.keys[first.names[0]] != nil {
			t.Error("the first key is kept forever")
		}
	})
	t.Run("signs although a clock was wrong when a key was created", func(t *testing.T) {
		ahead := ring(t, -1000*time.Hour)
		renewed, changed := ahead.Renewed(small.At.Add(-time.Hour))
		if !changed {
			t.Fatal("no key was created")
		}
		if _, err := renewed.Open(web, signed(t, renewed, web, small), small.At); err != nil {
			t.Error(err)
		}
		if _, changed := renewed.Renewed(small.At); changed {
			t.Error("a key is created each time")
		}
	})
	t.Run("is stored and read again", func(t *testing.T) {
		r := ring(t, time.Hour)
		data := r.Data()
		data["token"], data["20260101T000000Z"] = []byte("x"), []byte("short")
		read, err := ParseRing(data)
		if err == nil || !strings.Contains(err.Error(), `"token" is not the time when a key was created`) || !strings.Contains(err.Error(), "20260101T000000Z has 5 bytes instead of 32") {
			t.Errorf("got %v", err)
		}
		if !maps.EqualFunc(read.Data(), r.Data(), func(a, b []byte) bool { return string(a) == string(b) }) {
			t.Error("it differs")
		}
	})
}

func TestSubjectOf(t *testing.T) {
	yes := true
	owners := []metav1.OwnerReference{{UID: "other"}, {UID: "7b1c", Controller: &yes}}
	for _, tc := range []struct {
		name string
		meta metav1.ObjectMeta
		want Subject
	}{
		{"of a ReplicaSet", metav1.ObjectMeta{Labels: map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: "5d4f"}, OwnerReferences: owners}, web},
		{"of a DaemonSet", metav1.ObjectMeta{Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: "5d4f"}, OwnerReferences: owners}, web},
		{"of a Job", metav1.ObjectMeta{OwnerReferences: owners}, Subject{"shop", "7b1c", ""}},
		{"of nothing", metav1.ObjectMeta{Namespace: "elsewhere"}, Subject{Namespace: "shop"}},
	} {
		if got := SubjectOf(&tc.meta, "shop"); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	r, _ := (*Ring)(nil).Renewed(start)
	text, err := r.Sign(web, small)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add("a b c d e")
	f.Fuzz(func(t *testing.T, got string) {
		if c, err := r.Open(web, got, small.At); (err == nil) != (got == text) {
			t.Errorf("%q: %v, %v", got, c, err)
		}
	})
}

func TestToken(t *testing.T) {
	var r *Ring
	var tokens []string
	at := start
	for range 5 {
		r, _ = r.Renewed(at)
		before := r.Token(at)
		if len(tokens) > 0 && before != tokens[len(tokens)-1] {
			t.Errorf("the token is %q while some replicas do not know the new key, want that of the key before", before)
		}
		token := r.Token(at.Add(settle))
		if len(token) < 20 || token == before {
			t.Fatalf("token %q, before %q", token, before)
		}
		// It is a part of the path of a webhook's Service.
		if strings.Trim(token, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			t.Errorf("the API server rejects the token %q", token)
		}
		tokens = append(tokens, token)
		at = at.Add(renewAfter)
	}
	for i, token := range tokens {
		if got, want := r.Issued(token), i >= 2; got != want {
			t.Errorf("token %d of 5 is valid: %v, want %v", i+1, got, want)
		}
	}
	for _, token := range []string{"", tokens[4][1:], tokens[4] + "A"} {
		if r.Issued(token) {
			t.Errorf("%q is valid", token)
		}
	}
	if none := (*Ring)(nil); none.Token(at) != "" || none.Issued("") {
		t.Error("without keys, there is a token")
	}
}
