package hold

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// fill returns data with holds like h until it has this many bytes, with other pods or
// namespaces by the number that each gets.
func fill(t *testing.T, data map[string]string, bytes int, like func(n int) Hold) map[string]string {
	t.Helper()
	for n := 0; ; n++ {
		h := like(n)
		text, err := readable(h)
		if err != nil {
			t.Fatal(err)
		}
		if bytes -= cost(dataKey(h), text); bytes < 0 {
			return data
		}
		data[dataKey(h)] = text
	}
}

func podOf(namespace string, n int, author string) Hold {
	name := fmt.Sprintf("pod-%d", n)
	return Hold{Kind: Pause, Scope: Scope{Namespace: namespace, Pod: name, UID: types.UID(name)}, Author: author, Since: began}
}

// what does not fit is refused, by the share that has no room. The Makefile names this test.
func TestRoom(t *testing.T) {
	ofShop := func(n int) Hold { return podOf("shop", n, fmt.Sprintf("author-%d", n)) }
	byAnn := func(n int) Hold { return podOf(fmt.Sprintf("ns-%d", n), 0, "ann") }
	pods := func(n int) Hold { return podOf(fmt.Sprintf("ns-%d", n), n, fmt.Sprintf("author-%d", n)) }
	namespaces := func(n int) Hold {
		return Hold{Kind: Pause, Scope: Scope{Namespace: fmt.Sprintf("ns-%d", n)}, Author: fmt.Sprintf("author-%d", n), Since: began, Reason: strings.Repeat("a", maxReason)}
	}
	ofShopByAnn := func(n int) Hold { return podOf("shop", n, "ann") }
	namespacesByAnn := func(n int) Hold {
		return Hold{Kind: Pause, Scope: Scope{Namespace: fmt.Sprintf("ann-%d", n)}, Author: "ann", Since: began}
	}
	for _, tc := range []struct {
		name  string
		data  map[string]string
		hold  Hold
		wants string
	}{
		{"an author with a share in a namespace takes no more pods there", fill(t, map[string]string{}, perAuthorThere, ofShopByAnn), podOf("shop", -1, "ann"), "pods and workloads in namespace shop by ann are limited to 62 kB"},
		{"so that others have room there", fill(t, map[string]string{}, perAuthorThere, ofShopByAnn), podOf("shop", -1, "bob"), ""},
		{"and takes pods elsewhere", fill(t, map[string]string{}, perAuthorThere, ofShopByAnn), podOf("bank", 0, "ann"), ""},
		{"and holds the namespace", fill(t, map[string]string{}, perAuthorThere, ofShopByAnn), Hold{Kind: Pause, Scope: shop, Author: "ann"}, ""},
		{"an author with a share of namespaces takes no more", fill(t, map[string]string{}, perAuthorWide, namespacesByAnn), Hold{Kind: Pause, Scope: shop, Author: "ann"}, "namespaces by ann are limited to 117 kB"},
		{"so that others hold namespaces", fill(t, fill(t, map[string]string{}, forNarrow, pods), perAuthorWide, namespacesByAnn), Hold{Kind: Pause, Scope: shop, Author: "bob"}, ""},
		{"and still holds pods", fill(t, map[string]string{}, perAuthorWide, namespacesByAnn), podOf("shop", 0, "ann"), ""},
		{"and the cluster", fill(t, map[string]string{}, perAuthorWide, namespacesByAnn), Hold{Kind: Pause, Author: "ann"}, ""},

		{"a namespace with its share takes no more pods", fill(t, map[string]string{}, perNamespace, ofShop), podOf("shop", -1, "bob"), "pods and workloads in namespace shop are limited to 125 kB"},
		{"but its breakers always have room", fill(t, fill(t, map[string]string{}, forNarrow-perAuthorThere, pods), perAuthorThere, ofShop), Hold{Kind: Breaker, Scope: webs, Author: "author-0"}, ""},
		{"nor workloads", fill(t, map[string]string{}, perNamespace, ofShop), Hold{Kind: Restore, Scope: webs}, "pause or restore the namespace as a whole (-n shop)"},
		{"but can be held as a whole", fill(t, map[string]string{}, perNamespace, ofShop), Hold{Kind: Pause, Scope: shop}, ""},
		{"and takes nothing from another namespace", fill(t, map[string]string{}, perNamespace, ofShop), podOf("bank", 0, "author-0"), ""},
		{"an author with a share takes no more pods", fill(t, map[string]string{}, perAuthor, byAnn), podOf("shop", 0, "ann"), "pods and workloads by ann are limited to 125 kB"},
		{"but takes nothing from another author", fill(t, map[string]string{}, perAuthor, byAnn), podOf("shop", 0, "bob"), ""},
		{"and holds namespaces", fill(t, map[string]string{}, perAuthor, byAnn), Hold{Kind: Pause, Scope: shop, Author: "ann"}, ""},
		{"pods take only three quarters", fill(t, map[string]string{}, forNarrow, pods), podOf("shop", 0, "ann"), "pods and workloads are limited to 750 kB"},
		{"so that namespaces have room", fill(t, map[string]string{}, forNarrow, pods), Hold{Kind: Pause, Scope: shop}, ""},
		{"namespaces do not take the room of the cluster", fill(t, map[string]string{}, belowCluster, namespaces), Hold{Kind: Pause, Scope: shop, Reason: strings.Repeat("a", maxReason)}, "pause or restore the cluster as a whole (-A)"},
		{"the cluster always fits", fill(t, map[string]string{}, belowCluster, namespaces), Hold{Kind: Pause, Reason: strings.Repeat("a", maxReason), Author: strings.Repeat("b", maxAuthor)}, ""},
		{"a hold that does not grow fits", fill(t, map[string]string{}, perNamespace, ofShop), ofShop(0), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all, err := new(reader).read(tc.data)
			if err != nil {
				t.Fatal(err)
			}
			key := dataKey(tc.hold)
			before := cost(key, tc.data[key])
			if tc.data[key], err = readable(tc.hold); err != nil {
				t.Fatal(err)
			}
			err = checkRoom(all, tc.data, keyed{key, tc.hold}, before)
			var full *FullError
			if errors.As(err, &full) != (tc.wants != "") || err != nil && !strings.Contains(err.Error(), tc.wants) {
				t.Errorf("got %v, want %q", err, tc.wants)
			}
		})
	}
	t.Run("no hold costs more than the reserve for it", func(t *testing.T) {
		long := strings.Repeat("\U0001F600", maxReason/4) // It is escaped in YAML.
		for _, h := range []Hold{
			{Kind: Restore, Reason: long, Author: long, Since: began, Expires: ends},
			{Kind: Restore, Scope: Scope{Namespace: strings.Repeat("n", 63), Workload: workload.Workload{Kind: "K" + strings.Repeat("k", maxKind-1), Name: strings.Repeat("w", 253)}}, Reason: long, Author: long, Since: began, Expires: ends},
			{Kind: Restore, Scope: Scope{Namespace: strings.Repeat("n", 63), Pod: strings.Repeat("p", 253), UID: types.UID(long)}, Reason: long, Author: long, Since: began, Expires: ends},
		} {
			text, err := readable(h)
			if err != nil {
				t.Fatal(err)
			}
			if got := cost(dataKey(h), text); got > largest {
				t.Errorf("%s costs %d bytes", h.Scope, got)
			}
		}
	})
}
