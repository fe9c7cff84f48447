package limits

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"

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
