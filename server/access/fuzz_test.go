package access

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	pb "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/footprint"
)

// Headers identify nobody unless they have a token that the cluster has signed.
func FuzzPreAuthenticate(f *testing.F) {
	a, clock := asking(&answers{tokens: good})
	ours := newSigner(f, "a")
	a.config.Issuer = publishing(f, ours)
	hour := clock.Now().Add(time.Hour)
	signed := ours.token(f, issuerName, "ours", hour)
	forger := &signer{"a", newSigner(f, "").key}
	for _, header := range []string{"", "Bearer", "bearer x", "Bearer " + signed, "Bearer " + forger.token(f, issuerName, "ours", hour), "Bearer " + signed + "A", "Bearer ..", "Basic eDp5"} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		ctx := metadata.NewIncomingContext(withToken(t.Context(), ""), metadata.Pairs("authorization", header))
		var known fair.Key
		footprint.CheckAllocated(t, len(header), func() { _, known, _ = a.PreAuthenticate(ctx, pb.RatioService_GetRatio_FullMethodName) })
		token, _ := tokenOf(ctx)
		if known != (fair.Key{}) && !signedBy(&ours.key.PublicKey, token) {
			t.Errorf("%q is known as %v", header, known)
		}
		_ = a.lifeOf(token)
	})
}

// signedBy reports whether a token has an ES256 signature by the key.
func signedBy(key *ecdsa.PublicKey, token string) bool {
	end := strings.LastIndexByte(token, '.')
	if end < 0 {
		return false
	}
	signature, err := base64.RawURLEncoding.DecodeString(token[end+1:])
	if err != nil || len(signature) != 64 {
		return false
	}
	hash := sha256.Sum256([]byte(token[:end]))
	return ecdsa.Verify(key, hash[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
}
