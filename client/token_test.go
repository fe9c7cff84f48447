package client

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"k8s.io/client-go/rest"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestAccount(t *testing.T) {
	t.Run("renews account tokens in time", renewsAccountTokensInTime)
}

func renewsAccountTokensInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		var fail error
		account := &accountToken{request: func(context.Context) (string, time.Time, error) {
			requests++
			return fmt.Sprint("token-", requests), time.Now().Add(10 * time.Minute), fail
		}}
		for _, step := range []struct {
			name  string
			sleep time.Duration
			fail  error
			want  string
		}{
			{"requests the first token", 0, nil, "token-1"},
			{"keeps it for four fifths of its lifetime", 8*time.Minute - time.Second, nil, "token-1"},
			{"renews it before it expires", time.Second, nil, "token-2"},
			{"returns the error of a failed request", 9 * time.Minute, errors.New("no"), ""},
			{"requests it again after a failure", 0, nil, "token-4"},
		} {
			time.Sleep(step.sleep)
			fail = step.fail
			if got, err := account.get(t.Context()); got != step.want || !errors.Is(err, step.fail) {
				t.Errorf("%s: got %q, %v; want %q", step.name, got, err, step.want)
			}
		}
	})
}

// webToken returns a JSON Web Token with the payload.
func webToken(payload string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"RS256"}`)) + "." + encode([]byte(payload)) + "." + encode([]byte("signature"))
}

func TestAudience(t *testing.T) {
	t.Run("reads the audiences of a token", readsTheAudiencesOfAToken)
	t.Run("sends a kubeconfig token only to a server that it is for", sendsAKubeconfigTokenOnlyToAServerThatItIsFor)
}

func readsTheAudiencesOfAToken(t *testing.T) {
	for _, tc := range []struct {
		name, token string
		want        []string
		tells       bool
	}{
		{"one audience", webToken(`{"aud":"a"}`), []string{"a"}, true},
		{"several audiences", webToken(`{"aud":["a","b"]}`), []string{"a", "b"}, true},
		{"a token with padding", "e30.eyJhdWQiOiJhIn0=.c", []string{"a"}, true},
		{"no audience", webToken(`{"sub":"ann"}`), nil, true},
		{"a null audience", webToken(`{"aud":null}`), nil, true},
		{"an audience that is not a string", webToken(`{"aud":{"a":"b"}}`), nil, true},
		{"an empty audience", webToken(`{"aud":""}`), nil, true},
		{"an opaque token", "sha256~secret", nil, false},
		{"parts that are not base64", "a.b.c", nil, false},
		{"JSON that is not an object", webToken(`"aud"`), nil, false},
		{"an encrypted web token", webToken(`{"aud":"a"}`) + ".d.e", nil, false},
		{"an empty token", "", nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, tells := audiencesOf(tc.token); !slices.Equal(got, tc.want) || tells != tc.tells {
				t.Errorf("%q, %v; want %q, %v", got, tells, tc.want, tc.tells)
			}
		})
	}
}

// headers collects the metadata of all calls that reach a server.
type headers struct {
	mu  sync.Mutex
	all []metadata.MD
}

func (*headers) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*headers) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*headers) HandleConn(context.Context, stats.ConnStats)                       {}

func (h *headers) HandleRPC(_ context.Context, event stats.RPCStats) {
	if in, ok := event.(*stats.InHeader); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.all = append(h.all, in.Header)
	}
}

// taken returns and clears the authorizations of the calls so far.
func (h *headers) taken() (calls int, tokens []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, md := range h.all {
		tokens = append(tokens, md.Get("authorization")...)
	}
	calls, h.all = len(h.all), nil
	return calls, tokens
}

func sendsAKubeconfigTokenOnlyToAServerThatItIsFor(t *testing.T) {
	authority, received := newAuthority(t), &headers{}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.StatsHandler(received), grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{authority.server(serverHost)}})))
	workloadresizerv1.RegisterRatioServiceServer(server, ratioServer{list: func(context.Context) (*workloadresizerv1.ListRatiosResponse, error) {
		return &workloadresizerv1.ListRatiosResponse{}, nil
	}})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	const kubernetes = "https://kubernetes.default.svc"
	ours, theirs := webToken(`{"aud":["`+DefaultAudience+`"]}`), webToken(`{"aud":["`+kubernetes+`"]}`)
	both, opaque := webToken(`{"aud":["`+kubernetes+`","`+DefaultAudience+`"]}`), "sha256~secret"
	static := func(token string) *rest.Config { return &rest.Config{Host: "https://127.0.0.1:1", BearerToken: token} }
	plugged := &rest.Config{Host: "https://127.0.0.1:1", ExecProvider: execPlugin(t, theirs)}
	file := t.TempDir() + "/token"
	write(t, file, []byte(theirs))
	for _, tc := range []struct {
		name   string
		config *rest.Config
		opts   []Option
		sent   string
		// audience is the one that the refusal names, if any.
		audience string
	}{
		{"sends a token that is for the server", static(ours), nil, ours, ""},
		{"sends a token that is for both servers", static(both), nil, both, ""},
		{"withholds a token that is for the API server", static(theirs), nil, "", DefaultAudience},
		{"withholds such a token in a file", &rest.Config{Host: "https://127.0.0.1:1", BearerTokenFile: file}, nil, "", DefaultAudience},
		{"withholds such a token from a plugin", plugged, nil, "", DefaultAudience},
		{"withholds a token without an audience", static(webToken(`{"sub":"ann"}`)), nil, "", DefaultAudience},
		{"withholds an opaque token", static(opaque), nil, "", DefaultAudience},
		{"sends an opaque token if the audience is given", static(opaque), []Option{WithTokenAudience("ours")}, opaque, ""},
		{"ignores an empty audience option", static(opaque), []Option{WithTokenAudience("")}, "", ""},
		{"sends a token that is for the given audience", static(theirs), []Option{WithTokenAudience(kubernetes)}, theirs, ""},
		{"withholds a token that is for another audience", static(ours), []Option{WithTokenAudience("ours")}, "", "ours"},
		{"sends a token that an option gives", static(theirs), []Option{WithToken(opaque)}, opaque, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := optionsOf(append(tc.opts, WithCAPool(authority.pool())))
			if err := o.identityIn(tc.config, nil); err != nil {
				t.Fatal(err)
			}
			c, err := o.dial("passthrough:///"+listener.Addr().String(), serverHost, false)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			_, err = c.ListRatios(t.Context())
			_, streamErr := beginWatch(t.Context(), c)
			calls, tokens := received.taken()
			if tc.sent != "" {
				if want := "Bearer " + tc.sent; err != nil || !slices.Equal(tokens, []string{want, want}) {
					t.Errorf("sent %q, %v", tokens, err)
				}
				return
			}
			want := `for the audience "` + tc.audience
			for _, err := range []error{err, streamErr} {
				if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "so it is not sent") || strings.Count(err.Error(), want) != 2 {
					t.Errorf("%v, want the audience %q", err, tc.audience)
				}
			}
			if calls > 0 {
				t.Errorf("%d calls arrived with %q", calls, tokens)
			}
		})
	}
}

// beginWatch starts a watch, and waits for its first response or its end.
func beginWatch(ctx context.Context, c *Client) (*workloadresizerv1.WatchRatiosResponse, error) {
	stream, err := c.Ratios().WatchRatios(ctx, &workloadresizerv1.WatchRatiosRequest{})
	if err != nil {
		return nil, err
	}
	response, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return response, err
}
