package access

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Pprof is the path prefix of profiles, which are served over HTTP. It is in the table of
// methods because it requires a right.
const Pprof = "/debug/pprof"

// Metrics is the path of metrics, which are served over HTTP. Kubernetes components require the
// same right for their metrics.
const Metrics = "/metrics"

// Guard passes a request to the handler only if the caller has the rights that the table
// lists for the method. Callers identify themselves as on the gRPC API: by a client
// certificate, or by the header "Authorization: Bearer TOKEN". Other requests get status 401,
// 403, 429 or 503, with a message that states what is missing. Callers that are not authenticated learn
// only what to send, and not what is wrong with a token.
func (a *Access) Guard(method string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, err := a.known(asCall(r), method)
		if err == nil {
			var m Method
			if m, err = find(method); err == nil {
				err = a.authorize(ctx, &m, nil)
			}
		}
		if err != nil {
			denied := status.Convert(err)
			code, message := httpStatus(denied.Code()), denied.Message()
			if code == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
				message = a.expected(method, r.TLS != nil)
			}
			http.Error(w, message, code)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// expected returns what callers of a method must send.
func (a *Access) expected(method string, encrypted bool) string {
	message := fmt.Sprintf(`send the header "Authorization: Bearer TOKEN", with a token for the audience %s of a user with the right to %s`,
		strings.Join(a.config.Audiences, " or "), methods[method].Rights[0].full())
	if encrypted {
		message += ", or connect with the client certificate of such a user"
	}
	return message
}

// asCall returns the context that a gRPC call by the same caller would have.
func asCall(r *http.Request) context.Context {
	from := &peer.Peer{}
	if host, err := net.ResolveTCPAddr("tcp", r.RemoteAddr); err == nil {
		from.Addr = host
	}
	if r.TLS != nil {
		from.AuthInfo = credentials.TLSInfo{State: *r.TLS}
	}
	return metadata.NewIncomingContext(peer.NewContext(r.Context(), from), metadata.MD{"authorization": r.Header.Values("Authorization")})
}

func httpStatus(code codes.Code) int {
	switch code {
	case codes.Unauthenticated:
		return http.StatusUnauthorized
	case codes.PermissionDenied:
		return http.StatusForbidden
	case codes.ResourceExhausted:
		return http.StatusTooManyRequests
	case codes.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
