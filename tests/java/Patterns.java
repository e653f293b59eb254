import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * RE2J, one pattern a line: the pattern and texts, each in base64 behind ".". The answer is "1" or
 * "0" for each text, whether all of it matches, or "!" and the description of the fault.
 */
public final class Patterns {
    public static void main(String[] args) throws Exception {
        Lines.answer(Patterns::answer);
    }

    private static String answer(String line) throws Exception {
        String[] words = line.split(" ");
        try {
            Pattern pattern = Pattern.compile(text(words[0]));
            StringBuilder answer = new StringBuilder();
            for (int i = 1; i < words.length; i++) {
                answer.append(pattern.matcher(text(words[i])).matches() ? "1" : "0");
            }
            return answer.toString();
        } catch (PatternSyntaxException failed) {
            return "! " + failed.getDescription();
        }
    }

    private static String text(String word) {
        return new String(Base64.getDecoder().decode(word.substring(1)), StandardCharsets.UTF_8);
    }
}
