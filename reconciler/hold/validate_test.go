package hold

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestValidate(t *testing.T) {
	t.Run("reports the faults of a hold", reportsTheFaultsOfAHold)
}

func reportsTheFaultsOfAHold(t *testing.T) {
	for _, tc := range []struct {
		name  string
		hold  Hold
		field string
		says  string
	}{
		{"a namespace is a label", Hold{Kind: Pause, Scope: Scope{Namespace: "Shop"}}, "namespace", `"Shop" is not a valid name of a namespace`},
		{"a namespace has no dots", Hold{Kind: Pause, Scope: Scope{Namespace: "a.b"}}, "namespace", `"a.b" is not a valid name`},
		{"a pod is a subdomain", Hold{Kind: Pause, Scope: Scope{Namespace: "shop", Pod: "web\n", UID: "1"}}, "pod", `"web\n" is not a valid name of a pod`},
		{"a pod has a namespace", Hold{Kind: Pause, Scope: Scope{Pod: "web", UID: "1"}}, "namespace", "must be set for a pod"},
		{"a uid is one line", Hold{Kind: Pause, Scope: Scope{Namespace: "shop", Pod: "web", UID: "1\n2"}}, "uid", "one line"},
		{"a reason is one line", Hold{Kind: Pause, Scope: shop, Reason: "a\nb"}, "reason", "one line"},
		{"a reason has no control characters", Hold{Kind: Pause, Scope: shop, Reason: "\x1b[31m"}, "reason", "control characters"},
		{"a reason has no noncharacters", Hold{Kind: Pause, Scope: shop, Reason: "\uffff"}, "reason", "contains U+FFFF, which is not a character"},
		{"an author is one line", Hold{Kind: Pause, Scope: shop, Author: "ann\u2028"}, "author", "one line"},
		{"an author is valid UTF-8", Hold{Kind: Pause, Scope: shop, Author: "\xff"}, "author", "one line of text"},
		{"an author is short", Hold{Kind: Pause, Scope: shop, Author: strings.Repeat("a", 513)}, "author", "is 513 bytes long, the maximum is 512"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			wrong := tc.hold.Faults()
			if len(wrong) != 1 || wrong[0].Field != tc.field || !strings.Contains(wrong[0].Problem, tc.says) {
				t.Errorf("faults %v, want %s: %s", wrong, tc.field, tc.says)
			}
			if text, err := readable(tc.hold); err == nil {
				t.Errorf("written as %s", text)
			}
		})
	}
	good := Hold{Kind: Pause, Scope: Scope{Namespace: "shop", Pod: "web.0", UID: "1"}, Reason: "größer: - 'x' \"y\" #z"}
	if wrong := good.Faults(); len(wrong) > 0 {
		t.Errorf("%v", wrong[0])
	}
}

// Every hold without faults can be read again.
func FuzzWhatIsWrittenCanBeRead(f *testing.F) {
	f.Add("shop", "web", "1", "why", "ann", "JTI=1")
	f.Add("shop", "web", "~", "yes", "2026-11-21", "")
	f.Add("1e3", "null", "0x1", "- a: b", "\ufeff", "~")
	f.Fuzz(func(t *testing.T, namespace, pod, uid, reason, author, credential string) {
		h := Hold{Kind: Pause, Scope: Scope{Namespace: namespace, Pod: pod, UID: types.UID(uid)}, Reason: reason, Author: author, CredentialID: credential}
		if len(h.Faults()) > 0 {
			return
		}
		if _, err := readable(h); err != nil {
			t.Error(err)
		}
	})
}
