import java.nio.ByteBuffer;
import java.util.Base64;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;

/**
 * What Kafka answers to a request that failed as a whole, one a line:
 * "KEY VERSION CODE BODY", the request's body in base64, gets the response's body in base64,
 * or "refused" where Kafka has none.
 */
public final class ErrorResponseTool {
    public static void main(String[] args) throws Exception {
        Lines.answer(ErrorResponseTool::answer);
    }

    private static String answer(String line) throws Exception {
        String[] words = line.split(" ", -1);
        short version = Short.parseShort(words[1]);
        ByteBuffer body = ByteBuffer.wrap(Base64.getDecoder().decode(words[3]));
        AbstractResponse response;
        try {
            ApiKeys api = ApiKeys.forId(Integer.parseInt(words[0]));
            AbstractRequest request = AbstractRequest.parseRequest(
                api, version, new ByteBufferAccessor(body)).request;
            Errors error = Errors.forCode(Short.parseShort(words[2]));
            response = request.getErrorResponse(0, error.exception());
        } catch (RuntimeException | AssertionError refused) { // unknown enums or apis, null lists
            return "refused";
        }
        if (response == null) { // with acks of 0 there is none
            return "refused";
        }
        ByteBuffer answer = MessageUtil.toByteBufferAccessor(response.data(), version).buffer();
        byte[] bytes = new byte[answer.remaining()];
        answer.get(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }
}
