package limits

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// accountIn returns a call with a new credential of a ServiceAccount.
func accountIn(t *testing.T, namespace, name string, credential int) context.Context {
	return access.NewContext(t.Context(), access.Caller{
		Name:  "system:serviceaccount:" + namespace + ":" + name,
		Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {fmt.Sprint("JTI=", credential)}},
	})
}

// sharing returns the context of a call with a credential of an account that several share.
func sharing(t *testing.T, credential string) context.Context {
	return access.NewContext(t.Context(), access.Caller{Name: "team", Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {credential}}})
}

func TestSlots(t *testing.T) {
	for _, tc := range []struct {
		name string
		// greedy is who takes slots until none is left for them.
		greedy func(n int) context.Context
		// message is why, and others those who still get one.
		message string
		others  context.Context
	}{
		{
			"the accounts of one namespace leave slots to others",
			func(n int) context.Context { return accountIn(t, "mallory", fmt.Sprint(n), 0) },
			"the ServiceAccounts of your namespace already have 4 previews", accountIn(t, "shop", "ann", 0),
		},
		{
			"an account leaves slots to others of its namespace",
			func(n int) context.Context { return accountIn(t, "shop", "ben", n) },
			"your ServiceAccount already has 2 previews", accountIn(t, "shop", "ann", 0),
		},
		{
			"a credential leaves slots to others of its account",
			func(int) context.Context { return accountIn(t, "shop", "ann", 1) },
			"your credential already has 1 previews", accountIn(t, "shop", "ann", 2),
		},
		{
			"a user leaves slots to others",
			func(int) context.Context { return servertest.As(t, "ben") },
			"you already have 4 previews", servertest.As(t, "ann"),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := NewSlots(8)
			var err error
			for n := 0; err == nil && n < 8; n++ {
				_, err = s.Take(tc.greedy(n))
			}
			servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", tc.message)
			if _, err := s.Take(tc.others); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestACredentialLeavesPreviewsAndWatchesToOthers(t *testing.T) {
	slots := NewSlots(8)
	for range 2 {
		if _, err := slots.Take(sharing(t, "a")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := slots.Take(sharing(t, "a"))
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "your credential already has 2")
	for range 2 {
		if _, err := slots.Take(sharing(t, "b")); err != nil {
			t.Error(err)
		}
	}
	_, err = slots.Take(sharing(t, "c"))
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "you already have 4")

	l := New(Limits{WatchesPerCaller: 3})
	for range 2 {
		if _, err := l.enterWatch(fair.Key{Origin: "team", Account: "team", Credential: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = l.enterWatch(fair.Key{Origin: "team", Account: "team", Credential: "a"})
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_WATCHES", "your credential already has 2 watches")
	if _, err := l.enterWatch(fair.Key{Origin: "team", Account: "team", Credential: "b"}); err != nil {
		t.Error(err)
	}
	_, err = l.enterWatch(fair.Key{Origin: "team", Account: "team", Credential: "b"})
	servertest.CheckError(t, err, codes.ResourceExhausted, "TOO_MANY_WATCHES", "the caller already has 3 watches")
}
