package hostile

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const getRatio = workloadresizerv1.RatioService_GetRatio_FullMethodName

// TestHostile makes one attack after the other on the same server.
func TestHostile(t *testing.T) {
	v := newVictim(t)
	viewer := v.token(t, "viewer", "workload-resizer-viewer")
	nobody := v.token(t, "nobody", "")
	halfSent := func(authorization func(n int) string) func(*testing.T) {
		return func(t *testing.T) {
			for range 8 {
				connection := dialRaw(t, v.server.GRPCAddress)
				for n := range 250 {
					connection.open(getRatio, authorization(n), 64<<10, 63<<10)
				}
			}
		}
	}
	forged := forgedToken(t, viewer)
	for _, tc := range []struct {
		name   string
		attack func(*testing.T)
	}{
		{"requests that never end, without credentials", halfSent(func(int) string { return "" })},
		{"requests that never end, with forged tokens", halfSent(func(int) string { return "Bearer " + forged })},
		{"requests that never end, with opaque tokens", halfSent(func(n int) string { return fmt.Sprint("Bearer junk", n) })},
		{"requests that never end, of a viewer", halfSent(func(int) string { return "Bearer " + viewer })},
		{"requests that never end, of an account without rights", halfSent(func(int) string { return "Bearer " + nobody })},
		{"refused calls that end in centuries", func(t *testing.T) {
			for range 100 {
				connection := dialRaw(t, v.server.GRPCAddress)
				for range 2000 {
					if !connection.header(getRatio, "", "99999999H") {
						break
					}
				}
			}
		}},
		{"calls that are reset immediately", func(t *testing.T) {
			connection := dialRaw(t, v.server.GRPCAddress)
			for range 20_000 {
				connection.header(getRatio, "Bearer "+viewer, "")
				connection.reset()
			}
		}},
		{"health watches of services with long names", func(t *testing.T) {
			for n := range 40 {
				connection := dialRaw(t, v.server.GRPCAddress)
				for i := range 250 {
					request, err := proto.Marshal(&healthv1.HealthCheckRequest{Service: fmt.Sprintf("%d-%d-%s", n, i, strings.Repeat("x", 60<<10))})
					if err != nil {
						t.Fatal(err)
					}
					connection.header(healthv1.Health_Watch_FullMethodName, "", "")
					connection.data(uint32(len(request)), request)
					connection.end()
				}
			}
		}},
		{"headers of HTTP requests that never end", v.sendHalfRequests},
		{"metrics that are read slowly", v.readMetricsSlowly},
		{"manifests of a viewer that never end", func(t *testing.T) { v.sendHalfManifests(t, viewer, 200) }},
		{"connections without calls", func(t *testing.T) { v.connect(t, 3000) }},
		{"manifests of a viewer", func(t *testing.T) {
			c := v.dial(t, viewer)
			for _, text := range []string{aliases(), strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 20_000), "apiVersion: v1\nkind: Pod\nspec: {containers: [" + strings.Repeat("{name: a},", 100_000) + "]}"} {
				for range 4 {
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
					if _, err := c.PreviewManifest(ctx, text); err == nil || status.Code(err) == codes.DeadlineExceeded {
						t.Errorf("%.40q…: got %v, want it refused", text, err)
					}
					cancel()
				}
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) { v.withstands(t, tc.attack) })
	}
	t.Run("a caller that lists thousands of namespaces does not delay others", v.testVisibility)
	t.Run("bad tokens do not keep a new caller out", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for n := range 4 {
			connection := dialRaw(t, v.server.GRPCAddress)
			go func() {
				for i := 0; ctx.Err() == nil; i++ {
					connection.open(getRatio, fmt.Sprintf("Bearer junk-%d-%d", n, i), 0, 0)
					time.Sleep(5 * time.Millisecond)
				}
			}()
		}
		time.Sleep(3 * time.Second) // Long enough to spend the budget for opaque tokens.
		newcomer := v.dial(t, v.token(t, "newcomer", "workload-resizer-viewer"))
		if _, err := newcomer.ListRatios(t.Context()); err != nil {
			t.Errorf("a new caller is refused: %v", err)
		}
	})
	t.Run("connections without calls do not keep a new caller out", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		flood := make(chan struct{})
		go func() {
			defer close(flood)
			for ctx.Err() == nil {
				v.connect(t, 50)
			}
		}()
		for n := range 5 {
			newcomer := v.dial(t, v.token(t, fmt.Sprint("newcomer-", n), "workload-resizer-viewer"))
			if _, err := newcomer.ListRatios(t.Context()); err != nil {
				t.Errorf("a new caller is refused: %v", err)
			}
		}
		cancel()
		<-flood
	})
	t.Run("manifests that never end do not keep another caller's out", func(t *testing.T) {
		v.sendHalfManifests(t, viewer, 200)
		response, err := v.bystander.PreviewManifest(t.Context(), "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a}]}")
		if err != nil || len(response.GetObjects()) != 1 {
			t.Errorf("got %v, %v", response, err)
		}
	})
	t.Run("no tenant can report usage", func(t *testing.T) {
		for name, token := range map[string]string{"a viewer": viewer, "an account without rights": nobody} {
			c := v.dial(t, token)
			localcluster.Eventually(t, name+" to have a share of the calls again", func() error {
				stream, err := c.Usage().ReportUsage(t.Context())
				if err == nil {
					_, err = stream.CloseAndRecv()
				}
				switch status.Code(err) {
				case codes.ResourceExhausted:
					return err // Earlier calls have used its share up.
				case codes.PermissionDenied:
				default:
					t.Errorf("%s: got %v", name, err)
				}
				return nil
			})
		}
	})
	t.Run("a call with a forged token learns why it is refused", func(t *testing.T) {
		c := v.dial(t, forged)
		_, err := c.ListRatios(t.Context())
		if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "(its signature is wrong): get a new one") {
			t.Errorf("got %v", err)
		}
		reason := ""
		for _, detail := range status.Convert(err).Details() {
			if info, ok := detail.(*errdetails.ErrorInfo); ok {
				reason = info.GetReason()
			}
		}
		if reason != "CREDENTIALS_INVALID" {
			t.Errorf("the reason is %q", reason)
		}
	})
}
