package kernel

import "crypto/sha256"

const (
	sha256Rounds = 32
	sha256MB     = sha256Rounds * textBytes / 1e6
)

// newSHA256 hashes text repeatedly, as TLS and image pulls do.
func newSHA256(int) Work {
	data := logText()
	want := sha256.Sum256(data)
	return func() error {
		for range sha256Rounds {
			if sha256.Sum256(data) != want {
				return errWrong
			}
		}
		return nil
	}
}
